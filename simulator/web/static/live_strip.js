// The last two minutes of a live run, drawn and in words: applications, suggestions, how long decisions took.
import { byId, clock, colour, el, ms, put, text, textScale } from "/static/base.js";
import { many, newest, say } from "/static/live_figures.js";

const HUES = ["#56B4E9", "#E69F00", "#2fc79a", "#F0E442", "#e3a6c8", "#8ab6d6", "#f0a878", "#b8bec4"];

const hues = new Map();
export const forgetHues = () => hues.clear(); // of another part of the run
function hue(app) {
  if (!hues.has(app)) hues.set(app, { fill: HUES[hues.size % HUES.length], letter: String.fromCharCode(65 + (hues.size % 26)) });
  return hues.get(app);
}

let legend = "", told = "";
export function strip(state, t1) {
  const canvas = byId("strip");
  if (!state || t1 === null || document.hidden) return;
  const k = textScale(), width = canvas.clientWidth / k, height = canvas.clientHeight / k, scale = (devicePixelRatio || 1) * k;
  const size = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const c = canvas.getContext("2d");
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.fillStyle = colour("--ground");
  c.fillRect(0, 0, width, height);
  const left = 44, t0 = t1 - state.strip_ms, x = (t) => left + ((t - t0) / state.strip_ms) * (width - left);
  c.font = "12px system-ui, sans-serif";
  ribbon(state, c, x, t1, left);
  const top = 48, floor = height - 18;
  const worst = Math.max(1500, ...state.decisions.map((row) => row.ended_ms - row.captured_ms), ...state.thinking.map((one) => t1 - one.captured_ms));
  const y = (latency) => floor - (Math.min(latency, worst) / worst) * (floor - top);
  for (const row of state.decisions) bar(c, x, y, floor, row, state.budget_ms, row.ended_ms - row.captured_ms);
  for (const one of state.thinking) bar(c, x, y, floor, { ...one, kind: "thinking" }, state.budget_ms, t1 - one.captured_ms);
  for (const [start, end, reason] of state.gaps) gap(c, Math.max(left, x(start)), x(end), top, floor, reason);
  c.strokeStyle = colour("--ink");
  c.setLineDash([5, 4]);
  c.beginPath(); c.moveTo(left, y(state.budget_ms)); c.lineTo(width, y(state.budget_ms)); c.stroke();
  c.setLineDash([]);
  c.fillStyle = colour("--ink");
  c.textBaseline = "middle"; c.textAlign = "right";
  c.fillText(ms(state.budget_ms).replace(".00", ""), left - 4, y(state.budget_ms));
  c.fillText("apps", left - 4, 10); c.fillText("offers", left - 4, 32);
  if (worst > 2500) c.fillText(ms(worst), left - 4, top + 6);
  c.textAlign = "center"; c.textBaseline = "alphabetic";
  for (let t = Math.ceil(t0 / 30000) * 30000; t < t1; t += 30000) if (t >= 0) c.fillText(clock(t / 1000), Math.min(width - 18, Math.max(left + 14, x(t))), height - 4);
  for (const offer of state.offers) if (offer.t_ms >= t0) diamond(c, x(offer.t_ms), 32, offer.said);
  words(state, t0);
}

function ribbon(state, c, x, t1, left) {
  c.textBaseline = "middle"; c.textAlign = "center";
  for (let i = 0; i < state.snapshots.length; ) {
    const [start, app] = state.snapshots[i];
    let j = i + 1;
    while (j < state.snapshots.length && state.snapshots[j][1] === app) j++;
    const from = Math.max(left, x(start)), to = x(j < state.snapshots.length ? state.snapshots[j][0] : Math.min(t1, state.snapshots.at(-1)[0] + (state.about.period_ms ?? 1000)));
    if (to > from) {
      const { fill, letter } = app === null ? { fill: "#d0d4d8", letter: "?" } : hue(app);
      c.fillStyle = fill;
      c.fillRect(from, 2, to - from, 16);
      c.fillStyle = "#000";
      if (to - from > 11) c.fillText(letter, (from + to) / 2, 10.5);
    }
    i = j;
  }
}

function bar(c, x, y, floor, row, budget, latency) {
  const at = x(row.captured_ms);
  if (at < 44) return;
  const over = latency > budget, wide = 4, wrong = row.kind === "error" || row.kind === "unparsed";
  c.fillStyle = colour(over || wrong ? "--bad" : "--good");
  c.strokeStyle = c.fillStyle;
  const top = Math.min(floor - 2, y(latency));
  if (row.kind === "thinking" || row.kind === "superseded" || row.kind === "cancelled") c.strokeRect(at + 0.5, top + 0.5, wide - 1, floor - top);
  else c.fillRect(at, top, wide, floor - top);
  if (wrong) { c.lineWidth = 2; c.beginPath(); c.moveTo(at - 3, top - 9); c.lineTo(at + 5, top - 1); c.moveTo(at + 5, top - 9); c.lineTo(at - 3, top - 1); c.stroke(); c.lineWidth = 1; }
  else if (over) { c.beginPath(); c.moveTo(at + 2, top - 8); c.lineTo(at + 7, top - 1); c.lineTo(at - 3, top - 1); c.fill(); }
  if (row.dropped) { c.fillStyle = colour("--ink"); c.textAlign = "center"; c.textBaseline = "alphabetic"; c.fillText(`−${row.dropped}`, at + 2, top - 10); }
}

function gap(c, from, to, top, floor, reason) {
  if (to <= from) return;
  c.save();
  c.beginPath(); c.rect(from, top, to - from, floor - top); c.clip();
  c.strokeStyle = colour("--busy");
  for (let x = from - (floor - top); x < to; x += 8) { c.beginPath(); c.moveTo(x, floor); c.lineTo(x + floor - top, top); c.stroke(); }
  c.fillStyle = colour("--ink"); c.textAlign = "center"; c.textBaseline = "middle";
  if (to - from > 40) c.fillText(reason, (from + to) / 2, (top + floor) / 2);
  c.restore();
}

function diamond(c, x, y, said) {
  c.fillStyle = colour(said === "rejected" ? "--bad" : "--good");
  c.strokeStyle = colour("--ink");
  c.beginPath(); c.moveTo(x, y - 8); c.lineTo(x + 7, y); c.lineTo(x, y + 8); c.lineTo(x - 7, y); c.closePath();
  if (said === "ignored") c.stroke(); else c.fill();
  c.fillStyle = colour("--ground"); c.textAlign = "center"; c.textBaseline = "middle";
  if (said === "accepted") c.fillText("✓", x, y);
  if (said === "rejected") c.fillText("✕", x, y);
}

// The strip in words, and its legend.
function words(state, t0) {
  const rows = state.decisions.filter((row) => row.captured_ms >= t0), over = rows.filter((row) => row.ended_ms - row.captured_ms > state.budget_ms).length;
  const later = Math.max(0, newest(state, "never_seen") - state.counts.dropped); // gave way since the last decision began
  const dropped = [...rows, ...state.thinking].reduce((sum, row) => sum + row.dropped, later), wrong = rows.filter((row) => row.kind === "error" || row.kind === "unparsed").length;
  const shownOffers = state.offers.filter((offer) => offer.t_ms >= t0).length;
  const gone = state.gaps.filter(([, end]) => end > t0).length;
  const said = `${many(rows.length, "decision")}, ${over} over ${ms(state.budget_ms).replace(".00", "")} (▲), ${many(dropped, "snapshot")} never seen (−n), ${many(wrong, "error")} (✕), ${many(shownOffers, "suggestion")} (◆), ${many(gone, "gap")} (hatched).`;
  if (said !== told) { told = said; say(byId("strip-said"), said); }
  const apps = [...new Set(state.snapshots.map(([, app]) => app).filter((app) => app !== null))];
  const key_ = apps.join("\n");
  if (key_ === legend) return;
  legend = key_;
  put(byId("apps"), apps.map((app) => el("li", {}, el("span", { class: "swatch", style: { background: hue(app).fill } }, hue(app).letter), text(app, { limit: 40 }))));
}
