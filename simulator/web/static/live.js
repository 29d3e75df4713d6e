// The live page: what the recorder sees, what the agent makes of it, and what the person in front of it says back.
import { ask, bytes, byId, calm, clock, colour, count, el, failed, fixed, key, kiosk, listen, ms, page, percent, plain, put, tell, text, textScale } from "/static/base.js";

// The recorder finds this window by the mark in its title and covers it: it must stand there as long as the page is open.
page({ title: "[proact live]" });

const LATE_LIMIT_MS = 50, LAG_LIMIT_MS = 100; // past these a run is INVALID: simulator/timing/audit.py
const BUDGET_FRESH_MS = 10000; // how long a suggestion counts as being made
const HUES = ["#56B4E9", "#E69F00", "#2fc79a", "#F0E442", "#e3a6c8", "#8ab6d6", "#f0a878", "#b8bec4"];

let state = null, loading = false, again = false, waiting = [], away = false;
let unfound = 0; // statuses in a row by which this window was not found; it needs a moment to be on a picture
let offset = null; // stream time less this page's clock, ms
let selected = null, cardSince = 0;
const hues = new Map();

// ---------------------------------------------------------------- state

async function load() {
  again = loading;
  if (loading) return;
  loading = true;
  try {
    const next = await ask("/api/live");
    if (state?.about.part !== next.about.part) { offset = null; hues.clear(); selected = null; }
    state = next;
    heardTime(state.status);
    away = false;
  } catch (error) {
    lost(true);
    if (!state) failed(byId("away"), error);
  } finally {
    loading = false;
  }
  if (again) return load();
  const missed = waiting;
  waiting = [];
  for (const [act, data] of missed) act(data);
  all();
}

// Events that come while the whole state is being asked for are applied to it afterwards; each may be applied twice.
const later = (act) => (data) => (loading || !state ? waiting.push([act, data]) : act(data));

const handlers = {
  live_snapshot: later((snapshot) => {
    if (state.snapshot && snapshot.index <= state.snapshot.index) return;
    state.snapshot = snapshot;
    state.snapshots.push([snapshot.t_ms, snapshot.app]);
    while (state.snapshots.length > 2 && state.snapshots[1][0] < snapshot.t_ms - state.strip_ms) state.snapshots.shift();
    while (state.decisions.length && state.decisions[0].ended_ms < snapshot.t_ms - state.strip_ms) state.decisions.shift();
    frame();
  }),
  live_gaps: later(({ gaps }) => { state.gaps = gaps; }),
  live_thinking: later((one) => { if (!state.decisions.some((row) => row.seq === one.seq)) state.thinking.push(one); }),
  live_decision: later((row) => {
    state.thinking = state.thinking.filter((one) => one.seq !== row.seq);
    if (state.decisions.some((one) => one.seq === row.seq)) return;
    state.decisions.push(row);
    for (const name of ["counts", "fault", "latency", "tokens", "cost"]) state[name] = row[name];
    const fresh = row.offers.filter((offer) => !state.offers.some((known) => known.id === offer.id));
    if (fresh.length) {
      state.offers.push(...fresh);
      state.offers.splice(0, Math.max(0, state.offers.length - 50));
      selected = null;
      offers();
    }
    figures();
  }),
  live_said: later(({ id, said }) => {
    for (const offer of state.offers) if (offer.id === id) offer.said = said;
    offers();
  }),
  live_status: later((status) => { state.status = status; unfound = status.recording?.page_missing ? unfound + 1 : 0; heardTime(status); figures(); tick(); }),
  live_phase: later((phase) => { Object.assign(state.about, phase); figures(); tick(); }),
  live_reset: (data) => { if (!loading && state?.about.part === data.part) return; load(); },
};

// Of what came late the newest time counts least late: the largest offset, unless the clock itself was set anew.
function heardTime(status) {
  if (typeof status?.now_ms !== "number") return;
  const said = status.now_ms - performance.now();
  offset = offset === null || Math.abs(said - offset) > 1500 ? said : Math.max(offset, said);
}
let stopped = null;
function now() {
  if (offset === null) return null;
  if (state?.about.phase !== "ended") { stopped = null; return performance.now() + offset; }
  return (stopped ??= performance.now() + offset);  // of what has ended the picture stays as it is
}

function lost(yes) {
  away = yes;
  tick();
}

// ---------------------------------------------------------------- what is drawn once a change

function all() {
  if (!state) return;
  put(byId("notice"), state.about.notice.map((sentence) => el("li", {}, text(sentence))));
  frame();
  offers();
  figures();
  tick();
}

// Set a text only where it is another one: what is announced should not be announced twice.
function say(node, words) {
  const shown = plain(words);
  if (node.textContent !== shown) node.textContent = shown;
}

let wanted = null, shown = null, busy = false;
function frame() {
  const seen = state.snapshot;
  put(byId("window"), seen ? [el("b", {}, text(seen.app ?? "unknown application", { limit: 60 })), " ", text(seen.title ?? "", { limit: 160 })] : null);
  wanted = seen?.picture ?? null;
  if (seen && !wanted) { shown = null; put(byId("frame"), el("span", { class: "no-picture" }, "This recording holds no picture of it")); }
  next();
}

// One picture at a time, the newest next: a slow network shows fewer, never older ones.
function next() {
  if (busy || !wanted || wanted === shown) return;
  const name = wanted, img = new Image();
  busy = true;
  img.alt = "The screen as the agent saw it";
  img.onload = () => { busy = false; shown = name; byId("frame").replaceChildren(img); next(); };
  img.onerror = () => { busy = false; shown = name; put(byId("frame"), el("span", { class: "no-picture" }, "This picture cannot be shown")); next(); };
  img.src = `/api/live/picture/${name}`;
}

const current = () => state?.offers.find((offer) => offer.id === selected) ?? state?.offers.at(-1) ?? null;
const SAID = { accepted: "✓ useful", ignored: "◷ not now", rejected: "✕ wrong" };

let card = null;
function offers() {
  const offer = current();
  byId("buttons").hidden = !offer;
  byId("behind").hidden = !offer?.memories.length;
  byId("earlier-part").hidden = state.offers.length < 2;
  if (card !== offer?.id) {
    card = offer?.id;
    cardSince = performance.now();
    say(byId("heard"), "");
    put(byId("card"), offer ? suggestion(offer) : el("p", { class: "quiet-text" }, "No suggestion yet."));
    put(byId("memories"), offer?.memories.map(memory));
    put(byId("n-behind"), offer ? `(${offer.memories.length})` : "");
    byId("recalled").hidden = typeof offer?.recalled_ms !== "number";
    if (!byId("recalled").hidden) say(byId("recalled"), `Memory was not asked for this one: this is what it had told at ${clock(offer.recalled_ms / 1000)}.`);
  }
  for (const button of document.querySelectorAll("#buttons [data-said]")) button.setAttribute("aria-pressed", String(offer?.said === button.dataset.said));
  byId("undo").hidden = !offer?.said;
  put(byId("earlier"), state.offers.slice(0, -1).reverse().map(earlier));
}

function suggestion(offer) {
  const sure = offer.confidence === null ? "" : `, ${percent(offer.confidence)} sure`;
  return el("div", { class: "card offer" },
    el("p", { class: "intention" }, "◆ ", text(offer.intention, { limit: 80 })),
    el("p", { class: "words" }, text(offer.text, { limit: kiosk ? 150 : 600 })),
    el("p", { class: "facts" }, `at ${clock(offer.t_ms / 1000)}, ${ms(offer.latency_ms)} after the screen was seen${sure}`));
}

function memory(one) {
  const help = one.help === null ? "" : `; help was needed in ${percent(one.help)} of such moments`;
  return el("li", {}, text(one.text, { limit: 200 }),
    one.query ? el("div", { class: "quiet-text" }, "You asked: ", text(one.query, { limit: 200 })) : null,
    el("div", { class: "quiet-text" }, `score ${fixed(one.score, 3)}${help}`, one.intention ? "; " : "", one.intention ? text(one.intention, { limit: 60 }) : null));
}

function earlier(offer) {
  const open = el("button", { type: "button", class: "more", "aria-label": `Open the suggestion of ${clock(offer.t_ms / 1000)}`, on: { click: () => { selected = offer.id; offers(); byId("agent-head").scrollIntoView({ block: "nearest" }); } } }, "open");
  return el("li", {}, el("time", {}, clock(offer.t_ms / 1000)), el("b", {}, text(offer.intention, { limit: 60 })), text(offer.text, { limit: 120 }),
    el("span", { class: "quiet-text" }, ms(offer.latency_ms)), offer.said ? el("span", { class: "badge" }, SAID[offer.said] ?? offer.said) : null, open);
}

function figures() {
  const { counts, latency, tokens, cost, status } = state, rec = status.recording;
  const answered = { accepted: 0, ignored: 0, rejected: 0 };
  for (const offer of state.offers) if (offer.said) answered[offer.said] += 1;
  const n = answered.accepted + answered.ignored + answered.rejected;
  const rows = [
    ["Latency p50", ms(latency?.p50_ms), latency?.p50_ms > state.budget_ms],
    ["Latency p95", ms(latency?.p95_ms), latency?.p95_ms > state.budget_ms],
    ["Snapshots", count(newest("released"))],
    ["Decisions", count(counts.decisions)],
    ["Never seen", count(newest("never_seen")), newest("never_seen") > 0],
    ["Waiting", count(status.waiting), false, true],
    ["Shown of offers", `${count(counts.shown)} of ${count(counts.offered)}`],
    ["Found useful", n ? `${answered.accepted} of ${n}` : "–"],
    ["Errors", count(counts.errors + counts.unparsed), counts.errors + counts.unparsed > 0],
    ["Tokens in / out", tokens && !("in" in tokens) ? "unknown" : tokens ? `${count(tokens.in)} / ${count(tokens.out)}` : "no model asked", false, true],
    ["Cost", tokens ? (cost === null ? "unknown" : fixed(cost, 4)) : "–", false, true],
    ["Loop lag p99", ms1(status.lag_p99_ms), status.lag_p99_ms > LAG_LIMIT_MS],
    ...(rec ? [["Looks late p99", ms1(rec.late_p99_ms), rec.late_p99_ms > LATE_LIMIT_MS], ["To write", count(rec.to_write), false, true], ["Recording", bytes(rec.bytes), false, true]] : []),
  ];
  faults();
  put(byId("figures"), rows.map(([name, value, over, minor]) => el("div", { class: over ? "over" : minor ? "minor" : undefined }, el("dt", {}, name), el("dd", {}, over ? `${value} !` : value))));
}
// Of two counts of the same, told at different times, the newer is the larger.
function newest(name) {
  const told = [state.counts[name], state.status[name]].filter((n) => typeof n === "number");
  return told.length ? Math.max(...told) : null;
}

// Why decisions fail, and what would make the run's figures say nothing of the agent.
function faults() {
  const { counts, fault, timeout_ms: timeout, status, about } = state;
  byId("fault").hidden = !fault;
  if (fault) put(byId("fault"), `⚠ ${count(counts.errors)} of ${many(counts.decisions, "decision")} failed, the last at ${clock(fault.t_ms / 1000)}: `, text(fault.text, { limit: 200 }),
    typeof timeout === "number" ? el("span", { class: "quiet-text" }, ` A failed one counts as the timeout of ${ms(timeout)} at least, as in the scores.`) : null);
  const wrong = status.invalid ?? [], over = about.phase === "ended";
  byId("invalid").hidden = !wrong.length;
  if (wrong.length) say(byId("invalid"), `⚠ ${over ? "INVALID, so its figures say nothing of the agent" : "INVALID if it ended now"}: ${wrong.join("; ")}. ${over ? "" : "The screen is looked at too late, or this machine is too busy."}`);
}

const many = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
const ms1 = (x) => (typeof x === "number" ? `${fixed(x, x < 10 ? 1 : 0)} ms` : "–");

// ---------------------------------------------------------------- what goes on by itself

function recording() {
  const rec = state.status.recording, { badge, phase } = state.about;
  if (phase === "ended") return ["off", "■ ENDED"];
  if (away) return ["off", "? Not known: no connection"];
  if (badge === "RECORDING") return ["recording", "▶ RECORDING, not this screen"];
  if (!rec || rec.age_s === null) return ["off", "… Getting ready, nothing is recorded"];
  if (rec.pausing === true) return ["off", "❚❚ Pausing…"];
  if (rec.pausing === false) return ["off", "❚❚ Going on…"];
  if (rec.paused) return ["off", "❚❚ PAUSED: nothing is recorded"];
  if (rec.trouble) return ["off", `■ NOT RECORDING: ${rec.said}`];
  return ["on", "● REC"];
}

function doing() {
  const t = now(), { phase, why } = state.about, rec = state.status.recording;
  if (phase === "preparing") return ["still", "agent and memory are getting ready", null];
  if (phase === "ended") {
    const left = Math.max(0, Math.ceil((state.about.until_ms - Date.now()) / 1000));
    return ["still", why ? `ended: ${why}` : "ended", null, state.about.until_ms && !away ? `answers are taken for ${left} s more` : ""];
  }
  if (rec?.paused) return ["still", "paused", null];
  const offer = current();
  const thought = state.thinking.length && t !== null ? t - Math.min(...state.thinking.map((one) => one.captured_ms)) : null;
  if (offer && !offer.said && t !== null && t - offer.t_ms < BUDGET_FRESH_MS) {
    if (state.thinking.length) return ["suggesting", "suggesting, and thinking on for", thought];
    return ["suggesting", "suggesting", null, `for ${fixed(Math.max(0, t - offer.t_ms) / 1000, 0)} s`];
  }
  if (state.thinking.length) return ["thinking", "thinking", thought];
  const last = state.decisions.at(-1);
  return ["watching", "watching", null, last ? `last answer after ${ms(last.ended_ms - last.captured_ms)}` : ""];
}

function tick() {
  byId("away").hidden = !away;
  if (!state) return;
  const [kind, words] = recording();
  byId("rec").dataset.state = kind;
  say(byId("rec"), words);
  document.querySelector(".frame").classList.toggle("off", kind === "off");
  if (away) say(byId("away"), state.about.phase === "ended" ? "The run has ended, and proact has closed its server." : "No connection to proact; trying again. What you see is from before.");
  const rec = state.status.recording, paused = rec?.paused || rec?.pausing === true;
  const button = byId("pause");
  if (button.dataset.paused !== String(Boolean(paused))) {
    button.dataset.paused = String(Boolean(paused));
    put(button, paused ? "Resume recording " : "Pause recording ", el("kbd", {}, "p"));
  }
  button.hidden = !state.about.can_pause || state.about.phase === "ended";
  button.disabled = away;
  byId("own").hidden = unfound < 4;
  if (unfound >= 4) say(byId("own"), "⚠ This window was not found on the recorded screen by its title, so it cannot be left out of the pictures. If it is on that screen, move it to another one.");
  const t = now();
  say(byId("age"), state.snapshot && t !== null && state.about.phase !== "ended" ? `${fixed(Math.max(0, t - state.snapshot.t_ms) / 1000, 1)} s ago` : "");
  const [what, word, watch, aside] = doing();
  const node = byId("doing");
  node.dataset.doing = what;
  node.dataset.over = String(typeof watch === "number" && watch > state.budget_ms);
  say(node, word);
  say(byId("watch"), watch === null || watch === undefined ? aside ?? "" : `${fixed(Math.max(0, watch) / 1000, 1)} s`);
}

// ---------------------------------------------------------------- the strip

function hue(app) {
  if (!hues.has(app)) hues.set(app, { fill: HUES[hues.size % HUES.length], letter: String.fromCharCode(65 + (hues.size % 26)) });
  return hues.get(app);
}

let legend = "", told = "";
function strip() {
  const canvas = byId("strip"), t1 = now();
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
  ribbon(c, x, t1, left);
  const top = 48, floor = height - 18;
  const worst = Math.max(1500, ...state.decisions.map((row) => row.ended_ms - row.captured_ms), ...state.thinking.map((one) => t1 - one.captured_ms));
  const y = (latency) => floor - (Math.min(latency, worst) / worst) * (floor - top);
  for (const row of state.decisions) bar(c, x, y, floor, row, row.ended_ms - row.captured_ms);
  for (const one of state.thinking) bar(c, x, y, floor, { ...one, kind: "thinking" }, t1 - one.captured_ms);
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
  words(t0);
}

function ribbon(c, x, t1, left) {
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

function bar(c, x, y, floor, row, latency) {
  const at = x(row.captured_ms);
  if (at < 44) return;
  const over = latency > state.budget_ms, wide = 4, wrong = row.kind === "error" || row.kind === "unparsed";
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
function words(t0) {
  const rows = state.decisions.filter((row) => row.captured_ms >= t0), over = rows.filter((row) => row.ended_ms - row.captured_ms > state.budget_ms).length;
  const later = Math.max(0, newest("never_seen") - state.counts.dropped); // gave way since the last decision began
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

// ---------------------------------------------------------------- commands

async function answer(said) {
  const offer = current();
  if (!offer) return;
  if (performance.now() - cardSince < 400) return say(byId("heard"), "Too soon: this suggestion has only just come. Press it again."); // it has changed under the finger
  if (said && offer.said === said) return say(byId("heard"), `Written down already: ${SAID[said]}.`);
  try {
    const { said: holds } = await tell("/api/live/answer", { offer: offer.id, said });
    offer.said = holds;
    offers();
    if (document.activeElement?.closest("#buttons")) document.querySelector(`#buttons [data-said="${said}"]`)?.focus(); // or it would ring another answer
    say(byId("heard"), holds ? `Written down: ${SAID[holds]}.` : "Taken back.");
  } catch (error) {
    say(byId("heard"), `⚠ Not written down: ${error.message}`);
  }
}

async function pause() {
  if (!state?.about.can_pause || byId("pause").disabled) return;
  const rec = state.status.recording, paused = rec?.paused || rec?.pausing === true;
  try {
    await tell("/api/live/pause", { paused: !paused });
  } catch (error) {
    say(byId("rec"), `⚠ ${error.message}`);
  }
}

for (const button of document.querySelectorAll("#buttons [data-said]")) button.addEventListener("click", () => answer(button.dataset.said));
byId("undo").addEventListener("click", () => answer(null));
byId("pause").addEventListener("click", pause);
key("p", "pause the recording, or go on", pause);
key("u", "the suggestion is useful", () => answer("accepted"));
key("n", "not now", () => answer("ignored"));
key("w", "the suggestion is wrong", () => answer("rejected"));
key("z", "take the answer back", () => current()?.said && answer(null));
key("m", "show the memories behind it", () => { byId("behind").open = !byId("behind").open; });

// What is told between asking for the state and listening would be missed: asked once more as soon as events come.
listen(handlers, { reset: load, state: (how) => { if (how === "lost") lost(true); else { away = false; load(); } } });
load();
setInterval(tick, 200);
setInterval(strip, calm() ? 1000 : 500);
