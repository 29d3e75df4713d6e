// The figures of a live run, why its decisions fail, and what would make it say nothing of the agent.
import { bytes, byId, clock, count, el, fixed, ms, percent, plain, put, text } from "/static/base.js";

const LATE_LIMIT_MS = 50, LAG_LIMIT_MS = 100; // past these a run is INVALID: simulator/timing/audit.py

// Set a text only where it is another one: what is announced should not be announced twice.
export function say(node, words) {
  const shown = plain(words);
  if (node.textContent !== shown) node.textContent = shown;
}

export function figures(state) {
  const { counts, latency, tokens, cost, status } = state, rec = status.recording;
  const answered = { accepted: 0, ignored: 0, rejected: 0 };
  for (const offer of state.offers) if (offer.said) answered[offer.said] += 1;
  const n = answered.accepted + answered.ignored + answered.rejected;
  const rows = [
    ["Latency p50", ms(latency?.p50_ms), latency?.p50_ms > state.budget_ms],
    ["Latency p95", ms(latency?.p95_ms), latency?.p95_ms > state.budget_ms],
    ["Snapshots", count(newest(state, "released"))],
    ["Decisions", count(counts.decisions)],
    ["Never seen", count(newest(state, "never_seen")), newest(state, "never_seen") > 0],
    ["Waiting", count(status.waiting), false, true],
    ["Shown of offers", `${count(counts.shown)} of ${count(counts.offered)}`],
    ["Found useful", n ? `${answered.accepted} of ${n}` : "–"],
    ["Errors", count(counts.errors + counts.unparsed), counts.errors + counts.unparsed > 0],
    ["Tokens in / out", tokens && !("in" in tokens) ? "unknown" : tokens ? `${count(tokens.in)} / ${count(tokens.out)}` : "no model asked", false, true],
    ["Cost", tokens ? (cost === null ? "unknown" : fixed(cost, 4)) : "–", false, true],
    ["Loop lag p99", ms1(status.lag_p99_ms), status.lag_p99_ms > LAG_LIMIT_MS],
    ...(rec ? [["Looks late p99", ms1(rec.late_p99_ms), rec.late_p99_ms > LATE_LIMIT_MS], ["To write", count(rec.to_write), false, true], ["Recording", bytes(rec.bytes), false, true]] : []),
  ];
  faults(state);
  put(byId("figures"), rows.map(([name, value, over, minor]) => el("div", { class: over ? "over" : minor ? "minor" : undefined }, el("dt", {}, name), el("dd", {}, over ? `${value} !` : value))));
}

// Of two counts of the same, told at different times, the newer is the larger.
export function newest(state, name) {
  const told = [state.counts[name], state.status[name]].filter((n) => typeof n === "number");
  return told.length ? Math.max(...told) : null;
}

// Why decisions fail, and what would make the run's figures say nothing of the agent.
function faults(state) {
  const { counts, fault, timeout_ms: timeout, status, about } = state;
  byId("fault").hidden = !fault;
  if (fault) put(byId("fault"), `⚠ ${count(counts.errors)} of ${many(counts.decisions, "decision")} failed, the last at ${clock(fault.t_ms / 1000)}: `, text(fault.text, { limit: 200 }),
    typeof timeout === "number" ? el("span", { class: "quiet-text" }, ` A failed one counts as the timeout of ${ms(timeout)} at least, as in the scores.`) : null);
  const wrong = status.invalid ?? [], over = about.phase === "ended";
  byId("invalid").hidden = !wrong.length;
  if (wrong.length) say(byId("invalid"), `⚠ ${over ? "INVALID, so its figures say nothing of the agent" : "INVALID if it ended now"}: ${wrong.join("; ")}. ${over ? "" : "The screen is looked at too late, or this machine is too busy."}`);
}

export const many = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
const ms1 = (x) => (typeof x === "number" ? `${fixed(x, x < 10 ? 1 : 0)} ms` : "–");
