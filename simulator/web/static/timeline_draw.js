// Drawing the lanes on a canvas. What was drawn stays until the view or the data change; the cursor has a canvas of its
// own, so that moving it draws next to nothing.
import { clock, colour, plain, textScale } from "/static/base.js";
import { lastAt } from "/static/timeline_model.js";

// How each class is drawn, with the shapes of the report and of the terminal's line. Shapes differ, so that no colour is
// needed to tell them apart.
export const MARKS = {
  hit: { shape: "circle", fill: true, colour: "--good", says: "on time" },
  redundant: { shape: "circle", fill: false, colour: "--good", says: "redundant: right, and already served" },
  late: { shape: "diamond", fill: false, colour: "--late", says: "late: right when captured, closed when it came" },
  early: { shape: "left", fill: false, colour: "--late", says: "early: right, before it opened" },
  wrong: { shape: "square", fill: true, colour: "--bad", says: "wrong content, in an open window" },
  false_alarm: { shape: "up", fill: true, colour: "--bad", says: "false alarm" },
  held_back: { shape: "dot", fill: true, colour: "--edge", says: "held back by the gate" },
  offer: { shape: "right", fill: true, colour: "--ink", says: "offer, not classified" },
  miss: { shape: "cross", fill: false, colour: "--bad", says: "need missed, at its deadline" },
  true_positive: { shape: "circle", fill: true, colour: "--good", says: "moment: help offered, rightly" },
  true_negative: { shape: "circle", fill: false, colour: "--good", says: "moment: silent, rightly" },
  false_positive: { shape: "up", fill: true, colour: "--bad", says: "moment: help offered, none needed" },
  false_negative: { shape: "cross", fill: false, colour: "--bad", says: "moment: help needed, none offered" },
  matched: { shape: "circle", fill: true, colour: "--good", says: "intent that matched a true one" },
  extra: { shape: "up", fill: true, colour: "--bad", says: "intent that matched none" },
  merged: { shape: "dot", fill: true, colour: "--edge", says: "intent, counted with another" },
  failed: { shape: "bang", fill: true, colour: "--bad", says: "decision that failed, or could not be read" },
  waits: { shape: "dot", fill: true, colour: "--edge", says: "need that is open, to come, or could not be served" },
  accepted: { shape: "tick", fill: false, colour: "--good", says: "answered: useful" },
  rejected: { shape: "cross", fill: false, colour: "--bad", says: "answered: wrong" },
  ignored: { shape: "bar", fill: false, colour: "--edge", says: "answered: not now" },
  not_asked: { shape: "dot", fill: true, colour: "--edge", says: "moment: not asked" },
};
const APPS = ["--good", "--bad", "--need", "--late", "--busy", "--edge"];
const STAGES = { wait: "--busy", deciding: "--good", rest: "--good", retrieve: "--need", embed: "--need", ocr: "--late", build: "--edge", model: "--good", parse: "--late" };
export const stageColour = (name) => STAGES[name] ?? "--edge";

export function mark(g, name, x, y, r, palette) {
  const kind = MARKS[name] ?? MARKS.offer;
  g.beginPath();
  switch (kind.shape) {
    case "up": g.moveTo(x, y - r); g.lineTo(x + r, y + r * 0.8); g.lineTo(x - r, y + r * 0.8); g.closePath(); break;
    case "right": g.moveTo(x + r, y); g.lineTo(x - r * 0.8, y - r); g.lineTo(x - r * 0.8, y + r); g.closePath(); break;
    case "left": g.moveTo(x - r, y); g.lineTo(x + r * 0.8, y - r); g.lineTo(x + r * 0.8, y + r); g.closePath(); break;
    case "diamond": g.moveTo(x, y - r * 1.15); g.lineTo(x + r * 1.15, y); g.lineTo(x, y + r * 1.15); g.lineTo(x - r * 1.15, y); g.closePath(); break;
    case "square": g.rect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6); break;
    case "cross": g.moveTo(x - r * 0.8, y - r * 0.8); g.lineTo(x + r * 0.8, y + r * 0.8); g.moveTo(x + r * 0.8, y - r * 0.8); g.lineTo(x - r * 0.8, y + r * 0.8); break;
    case "tick": g.moveTo(x - r * 0.9, y); g.lineTo(x - r * 0.2, y + r * 0.7); g.lineTo(x + r * 0.9, y - r * 0.8); break;
    case "bar": g.moveTo(x - r * 0.8, y); g.lineTo(x + r * 0.8, y); break;
    case "bang": g.rect(x - r * 0.2, y - r, r * 0.4, r * 1.2); g.rect(x - r * 0.2, y + r * 0.55, r * 0.4, r * 0.4); break;
    case "dot": g.arc(x, y, Math.max(1.5, r * 0.35), 0, 7); break;
    default: g.arc(x, y, r * 0.8, 0, 7);
  }
  g.lineWidth = 2;
  g.strokeStyle = g.fillStyle = palette(kind.colour);
  if (kind.fill) { g.fill(); g.lineWidth = 1; g.strokeStyle = palette("--ground"); }
  g.stroke();
}

// A small picture for the legend, as large as the text beside it: of a mark, or of what `draw(g, side)` draws.
export function swatch(name, draw = (g, side) => mark(g, name, side / 2, side / 2, side / 3, colour)) {
  const canvas = document.createElement("canvas");
  const scale = (devicePixelRatio || 1) * textScale();
  canvas.width = canvas.height = Math.round(18 * scale);
  canvas.style.width = canvas.style.height = "1.125rem";
  canvas.setAttribute("aria-hidden", "true");
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  draw(g, 18);
  return canvas;
}

// How a need is marked, by what came of it.
export const needMark = (need) => (need.error ? "miss" : need.class === "served" ? "hit" : "waits");

const SIGN = 6, CROWD = 8;  // half a sign, and how many lie within three of its widths at most
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
      add(moments ? "moments" : "offers", 36, `${run.letter} ${run.name}`, { run, sub: moments ? "moments" : "offers", first: true });
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
      this[lane.kind](lane);
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

  axis(lane) {
    const g = this.g, digits = this.step < 1 ? 1 : 0;
    g.fillStyle = this.colours["--quiet"];
    for (let t = Math.ceil(this.from / this.step) * this.step; t <= this.to; t += this.step) {
      g.textAlign = t - this.from < this.step / 3 ? "left" : this.to - t < this.step / 3 ? "right" : "center";
      g.fillText(clock(t, digits), this.x(t), lane.y + 10);
    }
    g.textAlign = "left";
  }

  // The whole session: needs, errors, and what part of it is shown below.
  overview(lane) {
    const g = this.g, scale = this.width / this.session.end, top = lane.top;
    g.fillStyle = this.colours["--sunk"];
    g.fillRect(0, top, this.width, lane.inner);
    g.fillStyle = this.hatch;
    for (const [from, to] of this.session.gaps) g.fillRect(from * scale, top, Math.max(1, (to - from) * scale), lane.inner);
    g.fillStyle = this.colours["--need"];
    for (const need of this.session.truth.needs) g.fillRect(need.opens_s * scale, top + 3, Math.max(1.5, (need.closes_s - need.opens_s) * scale), 8);
    g.fillStyle = this.colours["--good"];
    for (const run of this.session.runs) for (const o of run.data.offers) if (o.mark === "hit") g.fillRect(o.arrived_s * scale - 1, top + 13, 2, 5);
    g.fillStyle = this.colours["--bad"];
    for (const t of this.session.errors) g.fillRect(t * scale - 1, top + 19, 2, 5);
    if (this.to - this.from < this.session.end) {
      g.strokeStyle = this.colours["--ink"];
      g.lineWidth = 2;
      g.strokeRect(this.from * scale + 1, top + 1, Math.max(4, (this.to - this.from) * scale) - 2, lane.inner - 2);
    }
  }

  apps(lane) {
    const g = this.g, { spans, apps, states, state, t_s: times } = this.session.recording;
    const first = Math.max(0, lastAt(this.session.spanStarts, this.from));
    let end = -1;
    for (let i = first; i < spans.length && spans[i][0] < this.to; i++) {
      let [from, to, app] = spans[i];
      while (i + 1 < spans.length && spans[i + 1][2] === app && spans[i + 1][0] <= to + 1e-6) to = spans[++i][1];
      const left = Math.max(0, this.x(from)), right = Math.min(this.width, this.x(to));
      if (right - left < 0.5 && left < end) continue;
      end = right;
      g.fillStyle = this.colours[APPS[(app ?? 5) % APPS.length]];
      g.globalAlpha = 0.3;
      g.fillRect(left, lane.top + 2, right - left, lane.inner - 9);
      g.globalAlpha = 1;
      g.fillRect(left, lane.top + 2, Math.min(2, right - left), lane.inner - 9);
      if (right - left > 30) this.label(app === null ? "?" : plain(apps[app]), left + 5, lane.top + 2 + (lane.inner - 9) / 2, right - left - 8);
    }
    // What was blurred or deleted since, and what was masked when it was recorded, below the app.
    const y = lane.top + lane.inner - 6;
    states.forEach((name, kind) => {
      if (name !== "redacted" && name !== "deleted") return;
      g.fillStyle = name === "deleted" ? this.dropped : this.colours["--late"];
      this.runs(times, (i) => state[i] === kind, (a, b) => g.fillRect(a, y, Math.max(1.5, b - a), 5));
    });
    g.fillStyle = this.colours["--edge"];
    for (const t of this.session.recording.masked_s) if (t >= this.from && t <= this.to) g.fillRect(this.x(t), y, Math.max(1.5, this.x(t + 1) - this.x(t)), 5);
  }

  // Stretches of snapshots for which something holds.
  runs(times, holds, act) {
    let start = null;
    const first = Math.max(0, lastAt(times, this.from)), last = Math.min(times.length - 1, lastAt(times, this.to) + 1);
    for (let i = first; i <= last; i++) {
      if (holds(i)) start ??= times[i];
      else if (start !== null) { act(this.x(start), this.x(times[i])); start = null; }
    }
    if (start !== null) act(this.x(start), this.x(times[last] + this.session.period));
  }

  label(said, x, y, room, ink = "--ink") {
    const g = this.g;
    let words = said.slice(0, 80);
    if (g.measureText(words).width > room) {
      while (words.length > 1 && g.measureText(words + "…").width > room) words = words.slice(0, -1);
      words += "…";
    }
    g.fillStyle = this.colours[ink];
    if (room > 12) g.fillText(words, x, y);
  }

  needs(lane) {
    const g = this.g;
    for (const need of this.session.truth.needs) {
      if (need.closes_s < this.from || need.opens_s > this.to) continue;
      const left = this.x(need.opens_s), right = Math.max(left + 2, this.x(need.closes_s));
      g.fillStyle = this.colours["--need"];
      g.globalAlpha = need.unservable ? 0.12 : 0.32;
      g.fillRect(left, lane.top + 3, right - left, lane.inner - 6);
      g.globalAlpha = 1;
      g.fillRect(left, lane.top + 3, Math.min(2, right - left), lane.inner - 6);
      g.fillRect(right - 3, lane.top + 1, 3, lane.inner - 2);  // the deadline
      if (need.acted_s !== null) {
        const x = this.x(need.acted_s);
        g.beginPath(); g.moveTo(x - 4, lane.top); g.lineTo(x + 4, lane.top); g.lineTo(x, lane.top + 6); g.fill();
      }
      if (right - left > 40) this.label(plain(`${need.id}: ${need.intention}`), Math.max(0, left) + 5, lane.top + lane.inner / 2, Math.min(right, this.width) - Math.max(0, left) - 10);
    }
  }

  offers(lane) {
    const g = this.g, run = lane.run, middle = lane.top + 12, low = lane.top + 25;  // offers above, misses below
    g.fillStyle = this.colours["--need"];
    g.globalAlpha = 0.13;
    for (const need of this.session.truth.needs) g.fillRect(this.x(need.opens_s), lane.top, this.x(need.closes_s) - this.x(need.opens_s), lane.inner);
    g.globalAlpha = 1;
    this.tail(lane);
    const offers = run.data.offers;
    g.fillStyle = this.colours["--edge"];
    let before = -9;
    for (const o of offers) {  // the many first and small, so that they cover nothing
      if (o.mark !== "held_back" || o.arrived_s < this.from || o.arrived_s > this.to) continue;
      const x = this.x(o.arrived_s);
      if (x - before < 1) continue;
      g.fillRect(x - 1.5, lane.top + lane.inner - 6, 3, 3);
      before = x;
    }
    const shown = [];
    for (const o of offers) if (o.mark !== "held_back" && o.arrived_s >= this.from && o.captured_s <= this.to) shown.push({ x: this.x(o.arrived_s), name: o.mark, from: this.x(o.captured_s) });
    this.signs(shown, middle, 20, (o) => {
      if (o.x - o.from <= 2) return;  // from capture to arrival
      g.strokeStyle = this.colours[(MARKS[o.name] ?? MARKS.offer).colour];
      g.lineWidth = 1.5;
      g.beginPath(); g.moveTo(o.from, middle - 4); g.lineTo(o.from, middle + 4); g.moveTo(o.from, middle); g.lineTo(o.x, middle); g.stroke();
    });
    const missed = run.missed.filter((need) => need.closes_s >= this.from && need.closes_s <= this.to);
    this.signs(missed.map((need) => ({ x: this.x(need.closes_s), name: "miss" })), low, 8);
  }

  // Signs at their places. Where they would cover each other stand blocks instead: their colours are shares of what lies
  // there, they are fuller the more it is, and the first of a row and every fifth bears the sign of most of it.
  signs(things, y, tall, before = () => {}) {
    const g = this.g, r = SIGN, wide = 2 * r, zero = this.x(0), cells = new Map();
    for (const one of things) {
      const n = Math.floor((one.x - zero) / wide);
      if (cells.has(n)) cells.get(n).push(one); else cells.set(n, [one]);
    }
    const size = (n) => cells.get(n)?.length ?? 0, crowded = (n) => size(n) > 0 && size(n - 1) + size(n) + size(n + 1) > CROWD;
    let most = 1;
    for (const inside of cells.values()) most = Math.max(most, inside.length);
    for (const [n, inside] of cells) {
      if (!crowded(n)) {
        for (const one of inside) { before(one); mark(g, one.name, one.x, y, r, this.palette); }
        continue;
      }
      const counts = new Map();
      for (const one of inside) counts.set(one.name, (counts.get(one.name) ?? 0) + 1);
      const names = [...counts.keys()].sort((a, b) => counts.get(a) - counts.get(b));  // the rare ones on top, and never less than 2 px
      const left = zero + n * wide;
      let top = y - tall / 2;
      g.globalAlpha = 0.4 + 0.6 * (Math.log(1 + inside.length) / Math.log(1 + most));
      for (const name of names) {
        const end = name === names.at(-1) ? y + tall / 2 : Math.min(y + tall / 2, top + Math.max(2, (tall * counts.get(name)) / inside.length));
        g.fillStyle = this.colours[(MARKS[name] ?? MARKS.offer).colour];
        g.fillRect(left, top, wide, end - top);
        top = end;
      }
      g.globalAlpha = 1;
      if (!crowded(n - 1) || n % 5 === 0) mark(g, names.at(-1), left + r, y, Math.min(r, tall / 2), this.palette);
    }
  }

  // What people said of offers, at the time when they said it.
  answers(lane) {
    const shown = lane.run.data.answers.filter((one) => one.t_s >= this.from && one.t_s <= this.to);
    this.signs(shown.map((one) => ({ x: this.x(one.t_s), name: one.said })), lane.top + lane.inner / 2, 12);
  }

  moments(lane) {
    const shown = lane.run.data.moments.filter((m) => m.t_s >= this.from && m.t_s <= this.to);
    this.signs(shown.map((m) => ({ x: this.x(m.t_s), name: m.class })), lane.top + lane.inner / 2, 16);
  }

  // Intents of a trajectory: from the offer that began one until it was taken back.
  intents(lane) {
    const g = this.g;
    for (const one of lane.run.threads) {
      const to = one.to_s ?? this.session.end;
      if (to < this.from || one.from_s > this.to || one.row > 5) continue;
      const left = Math.max(0, this.x(one.from_s)), right = Math.min(this.width, Math.max(left + 2, this.x(to))), y = lane.top + 3 + one.row * 11;
      g.globalAlpha = 0.35;
      g.fillStyle = this.colours[one.class === "matched" ? "--good" : one.class === "extra" ? "--bad" : "--busy"];
      g.fillRect(left, y, right - left, 9);
      g.globalAlpha = 1;
      g.fillRect(left, y, 2, 9);
      if (one.to_s !== null) g.fillRect(right - 2, y, 2, 9);
      g.font = this.tiny;
      this.label(plain(`${one.class === "matched" ? "✓ " : one.class === "extra" ? "✕ " : ""}${one.intention}`), left + 5, y + 5, right - left - 8);
      g.font = this.small;
    }
  }

  // What an interrupted run did not play.
  tail(lane) {
    const { played_s: played, end_s: end } = lane.run.data;
    if (lane.run.data.complete || played >= end - 1e-6) return;
    this.g.fillStyle = this.hatch;
    this.g.fillRect(this.x(played), lane.top, this.x(end) - this.x(played), lane.inner);
  }

  busy(lane) {
    const g = this.g, run = lane.run, dropped = run.data.decisions.dropped, h = lane.inner;
    const [first, last] = this.rows(run);
    g.fillStyle = this.colours["--busy"];
    g.beginPath();
    let end = -1;
    for (let i = first; i < last; i++) {
      const row = run.byCapture[i];
      const left = Math.max(end, this.x(run.started_s[row])), right = this.x(run.actionable_s[row]);
      if (right - end < 0.7 && end >= 0) continue;
      g.rect(left, lane.top + 3, Math.max(1, right - left - 0.5), h / 2 - 2);
      end = right;
    }
    g.fill();
    g.fillStyle = this.dropped;
    g.beginPath();
    end = -1;
    for (let i = Math.max(1, first); i < last; i++) {
      const row = run.byCapture[i];
      if (!dropped[row]) continue;
      const left = Math.max(end, this.x(run.captures[i - 1] + this.session.period / 2)), right = this.x(run.captures[i] - this.session.period / 2);
      if (right - left < 0.5) continue;
      g.rect(left, lane.top + h / 2 + 2, right - left, h / 2 - 3);
      end = right;
    }
    g.fill();
    const { kind, kinds } = run.data.decisions;
    g.font = this.bold;
    g.textAlign = "center";
    g.fillStyle = this.colours["--bad"];
    for (let i = first; i < last; i++) {  // what failed or could not be read: a third outcome
      const row = run.byCapture[i], said = kinds[kind[row]];
      if (said !== "error" && said !== "unparsed") continue;
      const left = this.x(run.started_s[row]), right = this.x(run.actionable_s[row]);
      g.fillRect(left, lane.top + 3, Math.max(2, right - left - 0.5), h / 2 - 2);
      if (right - left > 7) { g.fillStyle = this.colours["--ground"]; g.fillText("!", (left + right) / 2, lane.top + 7); g.fillStyle = this.colours["--bad"]; }
    }
    g.font = this.small;
    g.textAlign = "left";
    g.fillStyle = this.colours["--late"];
    let before = -9;
    for (const w of run.data.writes) {  // memory writes, as ticks
      const x = this.x(w.started_s);
      if (x < 0 || x > this.width || x - before < 1) continue;
      g.fillRect(x, lane.top + 1, 1, 3);
      before = x;
    }
  }

  rows(run) {
    const first = Math.max(0, lastAt(run.captures, this.from - 2 * run.ceiling) - 1);
    return [first, Math.min(run.n, lastAt(run.captures, this.to) + 2)];
  }

  latency(lane) {
    const g = this.g, run = lane.run, h = lane.inner - 6, bottom = lane.top + lane.inner;
    const scale = h / run.ceiling, [first, last] = this.rows(run);
    const perRow = (this.session.period / (this.to - this.from)) * this.width;
    if (perRow >= 4) {
      for (let i = first; i < last; i++) {
        const row = run.byCapture[i], left = this.x(run.released_s[row]);
        let y = bottom;
        for (const [name, s] of run.parts(row)) {
          const tall = Math.min(s * scale, y - lane.top);
          if (tall < 0.2) continue;
          g.fillStyle = this.colours[stageColour(name)];
          g.fillRect(left, y - tall, Math.max(1, perRow - 1.5), Math.max(1, tall));
          y -= tall;
        }
        if (run.total[row] > run.ceiling) { g.fillStyle = this.colours["--ink"]; g.fillRect(left, lane.top, perRow - 1.5, 2); }
      }
    } else {  // of each pixel the slowest: how long it waited, and the rest
      const wide = Math.ceil(this.width), worst = new Float64Array(wide), wait = new Float64Array(wide);
      for (let i = first; i < last; i++) {
        const row = run.byCapture[i], x = Math.floor(this.x(run.released_s[row]));
        if (x < 0 || x >= wide || run.total[row] <= worst[x]) continue;
        worst[x] = run.total[row];
        wait[x] = run.started_s[row] - run.released_s[row];
      }
      const paint = (name, top, low) => {
        g.fillStyle = this.colours[name];
        g.beginPath();
        for (let x = 0; x < wide; x++) {
          const a = Math.min(h, low(x) * scale), b = Math.min(h, top(x) * scale);
          if (b > a) g.rect(x, bottom - b, 1, b - a);
        }
        g.fill();
      };
      paint("--busy", (x) => wait[x], () => 0);
      paint("--good", (x) => worst[x], (x) => wait[x]);
    }
    const budget = bottom - this.session.period * scale;
    g.strokeStyle = this.colours["--bad"];
    g.setLineDash([6, 4]);
    g.lineWidth = 1.5;
    g.beginPath(); g.moveTo(0, budget); g.lineTo(this.width, budget); g.stroke();
    g.setLineDash([]);
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

// The top of the latency lane: room for the budget and for all but the slowest few.
function ceiling(run, budget) {
  const sorted = Float64Array.from(run.total).sort();
  return Math.max(budget * 1.4, (sorted[Math.floor(sorted.length * 0.98)] ?? 0) * 1.1);
}
