// Drawing lanes on a canvas: how they are laid out, what part of the time they show, and what lies at a place. What was
// drawn stays until the view or the data change; the cursor has a canvas of its own, so that moving it draws next to nothing.
import { colour, textScale } from "/static/base.js";
import { apps, axis, needs, overview } from "/static/timeline_lanes.js";
import { answers, busy, ceiling, intents, latency, moments, offers } from "/static/timeline_run_lanes.js";

// How each kind of lane is drawn; who has others gives `kinds` of its own.
export const KINDS = { axis, overview, apps, needs, offers, answers, moments, intents, busy, latency };
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

// Lanes are laid out in pixels of usual text and scaled by what the page's text is; so are places of the pointer.
export class Drawing {
  constructor(base, over) {
    this.base = base;
    this.over = over;
    this.g = base.getContext("2d", { alpha: false });
    this.o = over.getContext("2d");
    this.scale = textScale();
    this.from = 0;
    this.to = 1;
    this.took = [];  // the latest redraws, ms
    this.kinds = KINDS;
    this.palette = (name) => this.colours[name];
    this.recolour();
  }

  recolour() {
    const names = ["--ground", "--raised", "--sunk", "--line", "--edge", "--ink", "--quiet", "--good", "--bad", "--late", "--need", "--busy", "--focus"];
    this.colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
    const font = getComputedStyle(document.body).fontFamily;
    this.small = `12px ${font}`;
    this.bold = `bold 10px ${font}`;
    this.tiny = `9px ${font}`;
    this.hatch = this.pattern(this.colours["--edge"]);
    this.dropped = this.pattern(this.colours["--bad"]);
  }

  pattern(stroke) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const g = tile.getContext("2d");
    g.strokeStyle = stroke;
    g.lineWidth = 1.2;
    g.beginPath(); g.moveTo(-1, 7); g.lineTo(7, -1); g.moveTo(-1, 1); g.lineTo(1, -1); g.moveTo(5, 7); g.lineTo(7, 5); g.stroke();
    return this.g.createPattern(tile, "repeat");
  }

  // Which lanes there are, from above; each `{ kind, y, height, label, run }`.
  arrange(session, narrow) {
    this.session = session;
    const head = narrow ? 15 : 0;  // on a narrow screen the label stands above what it names
    const lanes = [];
    let y = 0;
    const add = (kind, height, label, more = {}) => { lanes.push({ kind, y, top: y + head, height: height + head, inner: height, label, ...more }); y += height + head; };
    add("overview", 26, "whole session");
    lanes.push({ kind: "axis", y, top: y, height: 20, inner: 20, label: "" });
    y += 20;
    if (session.recording) add("apps", 24, "apps");
    if (session.marking) add("needs", 44, "windows");  // the page on which windows are marked has no runs
    else if (session.truth.needs.length) add("needs", 26, "needs");
    for (const run of session.runs) {
      const moments = run.data.moments.length > 0;
      add(moments ? "moments" : "offers", 36, `${run.letter} ${session.runs.some((other) => other !== run && other.name === run.name) ? run.data.name : run.name}`, { run, sub: moments ? "moments" : "offers", first: true });
      if (run.data.answers?.length) add("answers", 20, "answers", { run });
      if (run.threads.length) add("intents", Math.min(6, run.threadRows) * 11 + 4, "intents", { run });
      add("busy", 18, "busy / dropped", { run });
      add("latency", 56, "latency", { run, sub: "budget " + (session.period) + " s" });
    }
    this.lanes = lanes;
    this.height = y;
    this.size();
  }

  size() {
    const wide = this.base.parentElement.clientWidth, device = devicePixelRatio || 1;
    this.scale = textScale();
    this.width = wide / this.scale;
    const scale = device * this.scale;
    for (const canvas of [this.base, this.over]) {
      canvas.style.height = `${this.height / 16}rem`;
      canvas.width = Math.round(wide * device);
      canvas.height = Math.round(this.height * scale);
      canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
    }
    for (const run of this.session.runs) run.ceiling = ceiling(run, this.session.period);
  }

  // Where a pointer's event is, in the lanes' pixels.
  at(event) { return [event.offsetX / this.scale, event.offsetY / this.scale]; }

  x(t) { return ((t - this.from) / (this.to - this.from)) * this.width; }
  t(x) { return this.from + (x / this.width) * (this.to - this.from); }
  laneAt(y) { return this.lanes.find((lane) => y >= lane.y && y < lane.y + lane.height) ?? null; }

  // Show from one instant to the other, within the session and not closer than two seconds.
  view(from, to) {
    const span = Math.min(Math.max(to - from, Math.min(2, this.session.end)), this.session.end);
    const start = Math.min(Math.max(from, 0), this.session.end - span);
    if (start === this.from && start + span === this.to) return false;
    this.from = start;
    this.to = start + span;
    return true;
  }

  draw() {
    const began = performance.now(), g = this.g;
    g.fillStyle = this.colours["--ground"];
    g.fillRect(0, 0, this.width, this.height);
    g.font = this.small;
    g.textBaseline = "middle";
    this.grid();
    for (const lane of this.lanes) {
      g.save();
      g.beginPath();
      g.rect(0, lane.y, this.width, lane.height);
      g.clip();
      this.kinds[lane.kind](this, lane);
      g.restore();
      g.fillStyle = lane.first ? this.colours["--edge"] : this.colours["--line"];
      g.fillRect(0, lane.y, this.width, lane.first ? 2 : 1);
    }
    this.took.push(performance.now() - began);
    if (this.took.length > 600) this.took.splice(0, 300);
  }

  grid() {
    const g = this.g, step = STEPS.find((s) => (s / (this.to - this.from)) * this.width >= 70) ?? STEPS.at(-1);
    this.step = step;
    g.fillStyle = this.colours["--line"];
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) g.fillRect(Math.round(this.x(t)), 46, 1, this.height);
    for (const [from, to] of this.session.gaps) {
      if (to < this.from || from > this.to) continue;
      g.fillStyle = this.hatch;
      g.fillRect(this.x(from), 46, Math.max(1, this.x(to) - this.x(from)), this.height);
    }
  }

  // The cursor, what the pointer is on, and hits of a search.
  cursor(t, { hover = null, hits = [], selected = null } = {}) {
    const o = this.o;
    o.clearRect(0, 0, this.width, this.height);
    o.fillStyle = this.colours["--late"];
    for (const [at] of hits) { const x = this.x(at); if (x >= 0 && x <= this.width) o.fillRect(x - 1, 46, 2, 18); }
    if (hover !== null) { o.fillStyle = this.colours["--edge"]; o.fillRect(this.x(hover), 46, 1, this.height); }
    const x = this.x(t);
    o.fillStyle = this.colours["--ink"];
    o.fillRect(Math.round(x) - 1, 30, 2, this.height);
    o.beginPath(); o.moveTo(x - 6, 28); o.lineTo(x + 6, 28); o.lineTo(x, 37); o.fill();
    o.fillRect((t / this.session.end) * this.width - 1, this.lanes[0].top, 2, this.lanes[0].inner);
    if (selected) {
      o.strokeStyle = this.colours["--focus"];
      o.lineWidth = 2;
      o.beginPath(); o.arc(this.x(selected.t), selected.y, 11, 0, 7); o.stroke();
    }
  }

  // What is drawn at a place: { run, offer | need | moment } or null.
  under(x, y) {
    const lane = this.laneAt(y);
    if (!lane) return null;
    const near = (t) => Math.abs(this.x(t) - x);
    const best = (list, of) => list.map((one) => [near(of(one)), one]).filter(([d]) => d <= 9).sort((a, b) => a[0] - b[0])[0]?.[1] ?? null;
    if (lane.kind === "offers") {
      const shown = lane.run.data.offers.filter((o) => o.mark !== "held_back");
      const offer = best(shown, (o) => o.arrived_s) ?? best(lane.run.data.offers, (o) => o.arrived_s);
      const missed = best(lane.run.missed, (need) => need.closes_s);
      if (missed && (!offer || (y > lane.top + 19 ? near(missed.closes_s) <= 9 : near(missed.closes_s) < near(offer.arrived_s)))) return { lane, run: lane.run, need: missed };
      if (offer) return { lane, run: lane.run, offer };
    }
    if (lane.kind === "answers") {
      const answer = best(lane.run.data.answers, (one) => one.t_s);
      if (answer) return { lane, run: lane.run, answer };
    }
    if (lane.kind === "moments") {
      const moment = best(lane.run.data.moments, (m) => m.t_s);
      if (moment) return { lane, run: lane.run, moment };
    }
    if (lane.kind === "needs" || lane.kind === "offers") {
      const need = this.session.openNeeds(this.t(x))[0];
      if (need) return { lane, run: lane.run, need };
    }
    return { lane, run: lane.run };
  }
}
