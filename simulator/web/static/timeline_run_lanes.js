// The lanes of a run: offers or moments, answers, intents, when it was busy, and how long that took. Each is drawn by a
// function of the drawing and of the lane.
import { plain } from "/static/base.js";
import { label } from "/static/timeline_lanes.js";
import { MARKS, mark, stageColour } from "/static/timeline_marks.js";
import { lastAt } from "/static/timeline_model.js";

const SIGN = 6, CROWD = 8;  // half a sign, and how many lie within three of its widths at most

export function offers(d, lane) {
  const g = d.g, run = lane.run, middle = lane.top + 12, low = lane.top + 25;  // offers above, misses below
  g.fillStyle = d.colours["--need"];
  g.globalAlpha = 0.13;
  for (const need of d.session.truth.needs) g.fillRect(d.x(need.opens_s), lane.top, d.x(need.closes_s) - d.x(need.opens_s), lane.inner);
  g.globalAlpha = 1;
  tail(d, lane);
  const offers = run.data.offers;
  g.fillStyle = d.colours["--edge"];
  let before = -9;
  for (const o of offers) {  // the many first and small, so that they cover nothing
    if (o.mark !== "held_back" || o.arrived_s < d.from || o.arrived_s > d.to) continue;
    const x = d.x(o.arrived_s);
    if (x - before < 1) continue;
    g.fillRect(x - 1.5, lane.top + lane.inner - 6, 3, 3);
    before = x;
  }
  const shown = [];
  for (const o of offers) if (o.mark !== "held_back" && o.arrived_s >= d.from && o.captured_s <= d.to) shown.push({ x: d.x(o.arrived_s), name: o.mark, from: d.x(o.captured_s) });
  signs(d, shown, middle, 20, (o) => {
    if (o.x - o.from <= 2) return;  // from capture to arrival
    g.strokeStyle = d.colours[(MARKS[o.name] ?? MARKS.offer).colour];
    g.lineWidth = 1.5;
    g.beginPath(); g.moveTo(o.from, middle - 4); g.lineTo(o.from, middle + 4); g.moveTo(o.from, middle); g.lineTo(o.x, middle); g.stroke();
  });
  const missed = run.missed.filter((need) => need.closes_s >= d.from && need.closes_s <= d.to);
  signs(d, missed.map((need) => ({ x: d.x(need.closes_s), name: "miss" })), low, 8);
}

// What people said of offers, at the time when they said it.
export function answers(d, lane) {
  const shown = lane.run.data.answers.filter((one) => one.t_s >= d.from && one.t_s <= d.to);
  signs(d, shown.map((one) => ({ x: d.x(one.t_s), name: one.said })), lane.top + lane.inner / 2, 12);
}

export function moments(d, lane) {
  const shown = lane.run.data.moments.filter((m) => m.t_s >= d.from && m.t_s <= d.to);
  signs(d, shown.map((m) => ({ x: d.x(m.t_s), name: m.class })), lane.top + lane.inner / 2, 16);
}

// Intents of a trajectory: from the offer that began one until it was taken back.
export function intents(d, lane) {
  const g = d.g;
  for (const one of lane.run.threads) {
    const to = one.to_s ?? d.session.end;
    if (to < d.from || one.from_s > d.to || one.row > 5) continue;
    const left = Math.max(0, d.x(one.from_s)), right = Math.min(d.width, Math.max(left + 2, d.x(to))), y = lane.top + 3 + one.row * 11;
    g.globalAlpha = 0.35;
    g.fillStyle = d.colours[one.class === "matched" ? "--good" : one.class === "extra" ? "--bad" : "--busy"];
    g.fillRect(left, y, right - left, 9);
    g.globalAlpha = 1;
    g.fillRect(left, y, 2, 9);
    if (one.to_s !== null) g.fillRect(right - 2, y, 2, 9);
    g.font = d.tiny;
    label(d, plain(`${one.class === "matched" ? "✓ " : one.class === "extra" ? "✕ " : ""}${one.intention}`), left + 5, y + 5, right - left - 8);
    g.font = d.small;
  }
}

export function busy(d, lane) {
  const g = d.g, run = lane.run, dropped = run.data.decisions.dropped, h = lane.inner;
  const [first, last] = rows(d, run);
  g.fillStyle = d.colours["--busy"];  // a thousand rectangles: as one path they take several times as long
  let end = -1;
  for (let i = first; i < last; i++) {
    const row = run.byCapture[i];
    const left = Math.max(end, d.x(run.started_s[row])), right = d.x(run.actionable_s[row]);
    if (right - end < 0.7 && end >= 0) continue;
    g.fillRect(left, lane.top + 3, Math.max(1, right - left - 0.5), h / 2 - 2);
    end = right;
  }
  g.fillStyle = d.dropped;
  end = -1;
  for (let i = Math.max(1, first); i < last; i++) {
    const row = run.byCapture[i];
    if (!dropped[row]) continue;
    const left = Math.max(end, d.x(run.captures[i - 1] + d.session.period / 2)), right = d.x(run.captures[i] - d.session.period / 2);
    if (right - left < 0.5) continue;
    g.fillRect(left, lane.top + h / 2 + 2, right - left, h / 2 - 3);
    end = right;
  }
  const { kind, kinds } = run.data.decisions;
  g.font = d.bold;
  g.textAlign = "center";
  g.fillStyle = d.colours["--bad"];
  for (let i = first; i < last; i++) {  // what failed or could not be read: a third outcome
    const row = run.byCapture[i], said = kinds[kind[row]];
    if (said !== "error" && said !== "unparsed") continue;
    const left = d.x(run.started_s[row]), right = d.x(run.actionable_s[row]);
    g.fillRect(left, lane.top + 3, Math.max(2, right - left - 0.5), h / 2 - 2);
    if (right - left > 7) { g.fillStyle = d.colours["--ground"]; g.fillText("!", (left + right) / 2, lane.top + 7); g.fillStyle = d.colours["--bad"]; }
  }
  g.font = d.small;
  g.textAlign = "left";
  g.fillStyle = d.colours["--late"];
  let before = -9;
  for (const w of run.data.writes) {  // memory writes, as ticks
    const x = d.x(w.started_s);
    if (x < 0 || x > d.width || x - before < 1) continue;
    g.fillRect(x, lane.top + 1, 1, 3);
    before = x;
  }
}

export function latency(d, lane) {
  const g = d.g, run = lane.run, h = lane.inner - 6, bottom = lane.top + lane.inner;
  const scale = h / run.ceiling, [first, last] = rows(d, run);
  const perRow = (d.session.period / (d.to - d.from)) * d.width;
  if (perRow >= 4) {
    for (let i = first; i < last; i++) {
      const row = run.byCapture[i], left = d.x(run.released_s[row]);
      let y = bottom;
      for (const [name, s] of run.parts(row)) {
        const tall = Math.min(s * scale, y - lane.top);
        if (tall < 0.2) continue;
        g.fillStyle = d.colours[stageColour(name)];
        g.fillRect(left, y - tall, Math.max(1, perRow - 1.5), Math.max(1, tall));
        y -= tall;
      }
      if (run.total[row] > run.ceiling) { g.fillStyle = d.colours["--ink"]; g.fillRect(left, lane.top, perRow - 1.5, 2); }
    }
  } else {  // of each column of the canvas the slowest: how long it waited, and the rest
    const wide = d.base.width, fine = g.getTransform().a, worst = new Float64Array(wide), wait = new Float64Array(wide);
    for (let i = first; i < last; i++) {
      const row = run.byCapture[i], x = Math.floor(d.x(run.released_s[row]) * fine);
      if (x < 0 || x >= wide || run.total[row] <= worst[x]) continue;
      worst[x] = run.total[row];
      wait[x] = run.started_s[row] - run.released_s[row];
    }
    const paint = (name, top, low) => {
      g.fillStyle = d.colours[name];
      for (let x = 0; x < wide; x++) {
        const a = Math.min(h, low(x) * scale), b = Math.min(h, top(x) * scale);
        if (b > a) g.fillRect(x / fine, bottom - b, 1 / fine, b - a);
      }
    };
    paint("--busy", (x) => wait[x], () => 0);
    paint("--good", (x) => worst[x], (x) => wait[x]);
  }
  const budget = bottom - d.session.period * scale;
  g.strokeStyle = d.colours["--bad"];
  g.setLineDash([6, 4]);
  g.lineWidth = 1.5;
  g.beginPath(); g.moveTo(0, budget); g.lineTo(d.width, budget); g.stroke();
  g.setLineDash([]);
}

// Signs at their places. Where they would cover each other stand blocks instead: their colours are shares of what lies
// there, they are fuller the more it is, and the first of a row and every fifth bears the sign of most of it.
function signs(d, things, y, tall, before = () => {}) {
  const g = d.g, r = SIGN, wide = 2 * r, zero = d.x(0), cells = new Map();
  for (const one of things) {
    const n = Math.floor((one.x - zero) / wide);
    if (cells.has(n)) cells.get(n).push(one); else cells.set(n, [one]);
  }
  const size = (n) => cells.get(n)?.length ?? 0, crowded = (n) => size(n) > 0 && size(n - 1) + size(n) + size(n + 1) > CROWD;
  let most = 1;
  for (const inside of cells.values()) most = Math.max(most, inside.length);
  for (const [n, inside] of cells) {
    if (!crowded(n)) {
      for (const one of inside) { before(one); mark(g, one.name, one.x, y, r, d.palette); }
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
      g.fillStyle = d.colours[(MARKS[name] ?? MARKS.offer).colour];
      g.fillRect(left, top, wide, end - top);
      top = end;
    }
    g.globalAlpha = 1;
    if (!crowded(n - 1) || n % 5 === 0) mark(g, names.at(-1), left + r, y, Math.min(r, tall / 2), d.palette);
  }
}

// What an interrupted run did not play.
function tail(d, lane) {
  const { played_s: played, end_s: end } = lane.run.data;
  if (lane.run.data.complete || played >= end - 1e-6) return;
  d.g.fillStyle = d.hatch;
  d.g.fillRect(d.x(played), lane.top, d.x(end) - d.x(played), lane.inner);
}

// From which decision to which one may be seen, in order of capture.
function rows(d, run) {
  const first = Math.max(0, lastAt(run.captures, d.from - 2 * run.ceiling) - 1);
  return [first, Math.min(run.n, lastAt(run.captures, d.to) + 2)];
}

// The top of the latency lane: room for the budget and for all but the slowest few.
export function ceiling(run, budget) {
  const sorted = Float64Array.from(run.total).sort();
  return Math.max(budget * 1.4, (sorted[Math.floor(sorted.length * 0.98)] ?? 0) * 1.1);
}
