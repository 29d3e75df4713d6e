// The live page: what the recorder sees, what the agent makes of it, and what the person in front of it says back.
import { ask, byId, calm, clock, el, failed, fixed, key, kiosk, listen, ms, page, percent, put, tell, text } from "/static/base.js";
import { figures, say } from "/static/live_figures.js";
import { forgetHues, strip } from "/static/live_strip.js";

// The recorder finds this window by the mark in its title and covers it: it must stand there as long as the page is open.
page({ title: "[proact live]" });

const BUDGET_FRESH_MS = 10000; // how long a suggestion counts as being made

let state = null, loading = false, again = false, waiting = [], away = false;
let unfound = 0; // statuses in a row by which this window was not found; it needs a moment to be on a picture
let offset = null; // stream time less this page's clock, ms
let selected = null, cardSince = 0;

// ---------------------------------------------------------------- state

async function load() {
  again = loading;
  if (loading) return;
  loading = true;
  try {
    const next = await ask("/api/live");
    if (state?.about.part !== next.about.part) { offset = null; forgetHues(); selected = null; }
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
    figures(state);
  }),
  live_said: later(({ id, said }) => {
    for (const offer of state.offers) if (offer.id === id) offer.said = said;
    offers();
  }),
  live_status: later((status) => { state.status = status; unfound = status.recording?.page_missing ? unfound + 1 : 0; heardTime(status); figures(state); tick(); }),
  live_phase: later((phase) => { Object.assign(state.about, phase); figures(state); tick(); }),
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
  figures(state);
  tick();
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
    el("p", { class: "words" }, kiosk ? text(offer.text.replace(/\s+/g, " "), { limit: 150 }) : text(offer.text, { limit: 600 })),
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
  say(byId("rec"), performance.now() < aloud.until ? `${words}. ${aloud.words}` : words);
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

// Why nothing was paused, for as long as it takes to read.
let aloud = { words: "", until: 0 };
function refuse(words) {
  aloud = { words, until: performance.now() + 4000 };
  tick();
}

async function pause() {
  if (!state || byId("pause").disabled) return;
  if (state.about.phase === "ended") return refuse("Nothing is left to pause.");
  if (!state.about.can_pause) return refuse("Nothing is recorded now, so nothing can be paused.");
  const rec = state.status.recording, paused = rec?.paused || rec?.pausing === true;
  try {
    await tell("/api/live/pause", { paused: !paused });
  } catch (error) {
    refuse(`⚠ ${error.message}`);
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
setInterval(() => strip(state, now()), calm() ? 1000 : 500);
