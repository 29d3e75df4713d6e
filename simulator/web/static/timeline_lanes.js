// The lanes of a session: its axis and overview, apps and needs. Each is drawn by a function of the drawing (with its
// scale and palette) and of the lane.
import { clock, plain } from "/static/base.js";
import { lastAt } from "/static/timeline_model.js";

const APPS = ["--good", "--bad", "--need", "--late", "--busy", "--edge"];

export function axis(d, lane) {
  const g = d.g, digits = d.step < 1 ? 1 : 0;
  g.fillStyle = d.colours["--quiet"];
  for (let t = Math.ceil(d.from / d.step) * d.step; t <= d.to; t += d.step) {
    g.textAlign = t - d.from < d.step / 3 ? "left" : d.to - t < d.step / 3 ? "right" : "center";
    g.fillText(clock(t, digits), d.x(t), lane.y + 10);
  }
  g.textAlign = "left";
}

// The whole session: needs, errors, and what part of it is shown below.
export function overview(d, lane) {
  const g = d.g, scale = d.width / d.session.end, top = lane.top;
  g.fillStyle = d.colours["--sunk"];
  g.fillRect(0, top, d.width, lane.inner);
  g.fillStyle = d.hatch;
  for (const [from, to] of d.session.gaps) g.fillRect(from * scale, top, Math.max(1, (to - from) * scale), lane.inner);
  g.fillStyle = d.colours["--need"];
  for (const need of d.session.truth.needs) g.fillRect(need.opens_s * scale, top + 3, Math.max(1.5, (need.closes_s - need.opens_s) * scale), 8);
  g.fillStyle = d.colours["--good"];
  for (const run of d.session.runs) for (const o of run.data.offers) if (o.mark === "hit") g.fillRect(o.arrived_s * scale - 1, top + 13, 2, 5);
  g.fillStyle = d.colours["--bad"];
  for (const t of d.session.errors) g.fillRect(t * scale - 1, top + 19, 2, 5);
  if (d.to - d.from < d.session.end) {
    g.strokeStyle = d.colours["--ink"];
    g.lineWidth = 2;
    g.strokeRect(d.from * scale + 1, top + 1, Math.max(4, (d.to - d.from) * scale) - 2, lane.inner - 2);
  }
}

export function apps(d, lane) {
  const g = d.g, { spans, apps, states, state, t_s: times } = d.session.recording;
  const first = Math.max(0, lastAt(d.session.spanStarts, d.from));
  let end = -1;
  for (let i = first; i < spans.length && spans[i][0] < d.to; i++) {
    let [from, to, app] = spans[i];
    while (i + 1 < spans.length && spans[i + 1][2] === app && spans[i + 1][0] <= to + 1e-6) to = spans[++i][1];
    const left = Math.max(0, d.x(from)), right = Math.min(d.width, d.x(to));
    if (right - left < 0.5 && left < end) continue;
    end = right;
    g.fillStyle = d.colours[APPS[(app ?? 5) % APPS.length]];
    g.globalAlpha = 0.3;
    g.fillRect(left, lane.top + 2, right - left, lane.inner - 9);
    g.globalAlpha = 1;
    g.fillRect(left, lane.top + 2, Math.min(2, right - left), lane.inner - 9);
    if (right - left > 30) label(d, app === null ? "?" : plain(apps[app]), left + 5, lane.top + 2 + (lane.inner - 9) / 2, right - left - 8);
  }
  // What was blurred or deleted since, and what was masked when it was recorded, below the app.
  const y = lane.top + lane.inner - 6;
  states.forEach((name, kind) => {
    if (name !== "redacted" && name !== "deleted") return;
    g.fillStyle = name === "deleted" ? d.dropped : d.colours["--late"];
    stretches(d, times, (i) => state[i] === kind, (a, b) => g.fillRect(a, y, Math.max(1.5, b - a), 5));
  });
  g.fillStyle = d.colours["--edge"];
  for (const t of d.session.recording.masked_s) if (t >= d.from && t <= d.to) g.fillRect(d.x(t), y, Math.max(1.5, d.x(t + 1) - d.x(t)), 5);
}

export function needs(d, lane) {
  const g = d.g;
  for (const need of d.session.truth.needs) {
    if (need.closes_s < d.from || need.opens_s > d.to) continue;
    const left = d.x(need.opens_s), right = Math.max(left + 2, d.x(need.closes_s));
    g.fillStyle = d.colours["--need"];
    g.globalAlpha = need.unservable ? 0.12 : 0.32;
    g.fillRect(left, lane.top + 3, right - left, lane.inner - 6);
    g.globalAlpha = 1;
    g.fillRect(left, lane.top + 3, Math.min(2, right - left), lane.inner - 6);
    g.fillRect(right - 3, lane.top + 1, 3, lane.inner - 2);  // the deadline
    if (need.acted_s !== null) {
      const x = d.x(need.acted_s);
      g.beginPath(); g.moveTo(x - 4, lane.top); g.lineTo(x + 4, lane.top); g.lineTo(x, lane.top + 6); g.fill();
    }
    if (right - left > 40) label(d, plain(`${need.id}: ${need.intention}`), Math.max(0, left) + 5, lane.top + lane.inner / 2, Math.min(right, d.width) - Math.max(0, left) - 10);
  }
}

// Stretches of snapshots for which something holds.
function stretches(d, times, holds, act) {
  let start = null;
  const first = Math.max(0, lastAt(times, d.from)), last = Math.min(times.length - 1, lastAt(times, d.to) + 1);
  for (let i = first; i <= last; i++) {
    if (holds(i)) start ??= times[i];
    else if (start !== null) { act(d.x(start), d.x(times[i])); start = null; }
  }
  if (start !== null) act(d.x(start), d.x(times[last] + d.session.period));
}

// Words from a place on, cut where their room ends.
export function label(d, said, x, y, room, ink = "--ink") {
  const g = d.g;
  let words = said.slice(0, 80);
  if (g.measureText(words).width > room) {
    while (words.length > 1 && g.measureText(words + "…").width > room) words = words.slice(0, -1);
    words += "…";
  }
  g.fillStyle = d.colours[ink];
  if (room > 12) g.fillText(words, x, y);
}
