// The replay timeline: one session as one or several runs of it saw it. `#t=824&runs=a,b` links to an instant and runs.
import { Refused, ask, byId, clock, colour, count, counted, el, failed, fixed, key, listen, ms, page, plain, put, text, textScale } from "/static/base.js";
import { Drawing } from "/static/timeline_draw.js";
import { Frame } from "/static/timeline_frame.js";
import { MARKS, needMark, stageColour, swatch } from "/static/timeline_marks.js";
import { Lanes, Session } from "/static/timeline_model.js";
import { movingOver } from "/static/timeline_moving.js";
import { Panel } from "/static/timeline_panel.js";

page({ title: "Timeline" });
const LETTERS = "ABCDEFGH", MOST_RUNS = 6, ROWS = 150;
const [, , own, unitPart] = location.pathname.split("/");
let unit = unitPart === undefined ? null : decodeURIComponent(unitPart);
const state = { t: 0, playing: false, hits: [], hit: -1, selected: null, hover: null, chosen: 0 };
const moving = movingOver(state, { bringUp, nowhere, go, paused: remember }), { seek, repaint, redraw, jump, zoom, lookAt, stop, when } = moving;
const link = () => new URLSearchParams(location.hash.slice(1));
let session = null, drawing = null, frame = null, panel = null, wide = 0;

// ---------------------------------------------------------------- asking for a run

const of = (id, key_) => `/api/run/${id}/unit/${encodeURIComponent(key_)}`;

async function open() {
  if (unit === null) {
    const { units } = await ask(`/api/run/${own}/units`);
    if (!units.length) throw new Refused("no unit of this run has been played yet");
    unit = units[0];
    history.replaceState(null, "", `/run/${own}/${encodeURIComponent(unit)}${location.hash}`);
  }
  const wanted = (link().get("runs") ?? "").split(",").filter((id) => /^[0-9a-f]+$/.test(id) && id !== own).slice(0, MOST_RUNS - 1);
  const [first, recording] = await Promise.all([ask(`${of(own, unit)}/timeline?with=${wanted.join(",")}`), ask(`${of(own, unit)}/recording`)]);
  const problems = first.beside.flatMap((one) => (one.problem ? [one.problem] : [])), data = [first, ...first.beside.filter((one) => !one.problem)];
  session = new Session(recording, data.map((one, i) => new Lanes(one, LETTERS[i])));
  panel = new Panel(byId("tabs"), byId("panel"));
  frame = new Frame(session.recording, { thumb: byId("thumb"), full: byId("full"), note: byId("no-frame"), box: byId("frame") });
  drawing = new Drawing(byId("base"), byId("over"));
  byId("opening").remove();
  byId("whole").hidden = false;
  moving.begin(session, drawing);
  refill([...recording.notes, ...problems], { list: false });
  seek(linked() ?? 0);
  (globalThis.requestIdleCallback ?? setTimeout)(() => listed());  // far below: what is seen at once is drawn before it
  performance.mark("timeline-open");
}

// The instant that the address names: where a need is first seen, or a time.
function linked() {
  const need = session.truth.needs.find((one) => one.id === link().get("need")), t = Number.parseFloat(link().get("t"));
  return need ? session.shownAt(need) : Number.isFinite(t) ? t : null;
}

async function other(first, id) {
  const known = first.others.find((one) => one.id === id);
  return ask(`${of(id, known?.unit ?? first.unit)}/timeline`);
}

// The other sessions of the run, to go to with the same runs beside.
async function sessions() {
  const { units } = await ask(`/api/run/${own}/units`);
  if (units.length < 2) return;
  put(byId("units"), units.map((name) => el("option", { value: name, selected: name === unit }, plain(name).slice(0, 80))));
  byId("units-box").hidden = false;
  const runs = () => { const shown = session.runs.slice(1).map((run) => run.id); return shown.length ? `#runs=${[own, ...shown].join(",")}` : ""; };
  const go = (name) => { location.href = `/run/${own}/${encodeURIComponent(name)}${runs()}`; };
  const by = (step_) => { const to = units[units.indexOf(unit) + step_]; if (to !== undefined) go(to); else flash("no further session"); };
  byId("units").addEventListener("change", (event) => go(event.target.value));
  byId("unit-before").addEventListener("click", () => by(-1));
  byId("unit-after").addEventListener("click", () => by(1));
  key("[", "previous session of the run", () => by(-1));
  key("]", "next session of the run", () => by(1));
}

// Everything that depends on which runs there are.
function refill(notes = null, { list = true } = {}) {
  const first = session.runs[0].data;
  document.title = `${plain(first.unit)} · ${plain(session.runs[0].name)} · proact`;
  put(byId("name"), el("a", { href: "/" }, "Runs"), " / ", text(first.name, { limit: 60 }), " / ", text(first.unit, { limit: 60 }));
  if (notes !== null) state.notes = notes;
  const lines = [...state.notes, ...new Set(session.runs.flatMap((run) => run.data.notes)), ...session.runs.flatMap(standing)];
  const invalid = session.runs.flatMap((run) => (run.data.invalid ?? []).map((why) => `⚠ ${run.letter} is INVALID, so its figures say nothing of the agent: ${why}`));
  put(byId("notes"), invalid.map((line) => el("p", { class: "failed" }, text(line))), lines.map((line) => el("p", { class: "notice" }, text(line))));
  put(byId("panel-run"), session.runs.map((run, i) => el("option", { value: i, selected: i === state.chosen }, `${run.letter} ${plain(run.name)} (${plain(run.data.name)})`)));
  wide = byId("lanes").clientWidth;
  drawing.arrange(session, wide < 560 * textScale());
  put(byId("labels"), drawing.lanes.filter((lane) => lane.label).map((lane) => el("div", { class: lane.first ? "run" : null, style: { top: `${lane.y / 16}rem`, height: `${lane.height / 16}rem` } },
    el("span", {}, plain(lane.label).slice(0, 60)), lane.sub ? el("span", { class: "quiet-text" }, lane.sub) : "")));
  figures();
  legend();
  others();
  if (list) listed();
  byId("follow-box").hidden = !session.runs.some((run) => run.data.status === "running");
  redraw();
}

function standing(run) {
  const data = run.data, failed = data.failed.errors + data.failed.unparsed, said = [];
  if (data.status === "running") said.push(data.complete ? `${run.letter}: this session is played; others of the run are not yet.` : `${run.letter} is being played and shown as far as its log goes: classes and figures are provisional.`);
  else if (!data.complete) said.push(`${run.letter} was ${data.status === "killed" ? "killed" : "interrupted"} at ${clock(data.played_s)}: what comes after was not played.`);
  if (failed) {
    said.push(`${run.letter}: ${count(failed)} of ${counted(run.n, "decision")} failed${data.failed.unparsed ? " or could not be read" : ""} (e goes to the next).`
      + (data.failed.errors && data.failed.charge_s !== null ? ` In p50 and p95 a failed one counts as ${fixed(data.failed.charge_s, 0)} s at least, the longest that was waited for.` : ""));
  }
  return said;
}

const brief = (x) => (x !== null && x < 1 ? "<1 ms" : ms(x));
const SHOWN = { "scheduled_latency@p50": "p50", "scheduled_latency@p95": "p95", false_alarms_per_hour: "false alarms/h", P_rt: "precision", R_rt: "recall" };
function figures() {
  const run = session.runs[state.chosen], data = run.data;
  const said = Object.entries(data.figures).map(([name, value]) => [SHOWN[name] ?? name, name.startsWith("scheduled") ? brief(value) : fixed(value, name.endsWith("hour") ? 1 : 2)]);
  const dropped = data.decisions.dropped.reduce((a, b) => a + b, 0), failed = data.failed.errors + data.failed.unparsed;
  if (data.invalid?.length) said.unshift(["figures", el("span", { class: "bad" }, "▲ INVALID")]);
  if (data.status === "running" && !data.complete) said.push(["figures", "provisional"]);
  said.push(["needs", session.truth.known ? count(session.truth.needs.length) : "–"], ["offers", count(data.offers.length)], ["errors", failed ? el("span", { class: "bad" }, `▲ ${count(failed)}`) : "0"]);
  if (data.answers) said.push(["answers", count(data.answers.length)]);
  said.push(["snapshots dropped", count(data.never_seen ?? dropped)], ["latency", data.header.latency_source ?? "–"], ["gate", plain(data.gate)]);
  put(byId("figures"), said.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function legend() {
  const runs = session.runs, states = session.recording?.states ?? [];
  const used = new Set(runs.flatMap((run) => [...run.data.offers.map((o) => o.mark), ...run.data.moments.map((m) => m.class), ...(run.data.answers ?? []).map((one) => one.said), ...(run.missed.length ? ["miss"] : [])]));
  const box = (name, alpha = 1) => swatch("", (g, side) => { g.globalAlpha = alpha; g.fillStyle = colour(name); g.fillRect(1, side * 0.25, side - 2, side * 0.5); });
  const ticks = (name) => swatch("", (g, side) => { g.fillStyle = colour(name); for (const x of [4, 9, 14]) g.fillRect(x, side * 0.3, 1.5, side * 0.4); });
  const hatch = (name) => swatch("", (g, side) => { g.beginPath(); g.rect(1, side * 0.2, side - 2, side * 0.6); g.clip(); g.strokeStyle = colour(name); g.lineWidth = 1.2; g.beginPath(); for (let x = -side; x < side; x += 5) { g.moveTo(x, side); g.lineTo(x + side, 0); } g.stroke(); });
  const line = (picture, ...words) => el("li", {}, picture, el("span", {}, words));
  const stages = [...new Set(runs.flatMap((run) => run.stageNames))].slice(0, 6);
  put(byId("legend"), Object.entries(MARKS).filter(([name]) => used.has(name)).map(([name, kind]) => line(swatch(name), kind.says)),
    session.truth.needs.length ? line(box("--need", 0.5), "need, with its deadline at the right") : "",
    line(box("--busy"), "busy; waiting in latency"), line(box("--good"), "deciding"),
    runs.some((run) => run.failures.length) ? line(box("--bad"), "with !: failed, or could not be read") : "",
    stages.map((name) => line(box(stageColour(name)), plain(name), " (a stage of latency)")),
    runs.some((run) => run.data.writes.length) ? line(ticks("--late"), "memory was written") : "",
    states.includes("redacted") ? line(box("--late"), "below an app: blurred in review") : "", states.includes("deleted") ? line(hatch("--bad"), "below an app: deleted") : "",
    session.recording?.masked_s.length ? line(box("--edge"), "below an app: masked when recorded") : "",
    line(hatch("--bad"), "snapshots dropped"), line(hatch("--edge"), "nothing recorded, or not played"));
}

function others() {
  const first = session.runs[0].data, shown = new Set(session.runs.map((run) => run.id));
  const rows = [{ id: own, name: first.name, agent: first.header.agent, memory: first.header.memory, own: true }, ...first.others];
  put(byId("others"), rows.length === 1 ? el("p", {}, "No other run of this session is here.") : null, el("ul", {}, rows.slice(0, 60).map((one) => {
    const box = el("input", { type: "checkbox", checked: shown.has(one.id), disabled: one.own, on: { change: (event) => toggle(one.id, event.target.checked) } });
    const letter = session.runs.find((run) => run.id === one.id)?.letter;
    return el("li", {}, el("label", {}, box, " ", letter ? el("strong", {}, `${letter} `) : "", text(`${one.agent} + ${one.memory}`, { limit: 60 }), " ", el("span", { class: "quiet-text" }, text(one.name, { limit: 60 }))));
  })));
}

async function toggle(id, on) {
  try {
    if (!on) session.runs = session.runs.filter((run) => run.id !== id);
    else if (session.runs.length >= MOST_RUNS) throw new Refused(`at most ${MOST_RUNS} runs side by side`);
    else session.runs.push(new Lanes(await other(session.runs[0].data, id), ""));
    put(byId("problem"));
  } catch (error) { failed(byId("problem"), error); }
  session.runs.forEach((run, i) => { run.letter = LETTERS[i]; });
  state.chosen = Math.min(state.chosen, session.runs.length - 1);
  session.use(session.runs);
  refill();
  seek(state.t);
}

// All that is drawn, as a table: for those who do not see it, and for those who look for one thing.
function listed() {
  const run = session.runs[state.chosen], said = [];
  for (const need of run.data.needs) said.push([session.shownAt(need), needMark(need), `need ${plain(need.id)}`, need.class, need.title]);
  for (const offer of run.data.offers) if (offer.mark !== "held_back") said.push([offer.captured_s, offer.mark, `offer ${offer.id}`, offer.class ?? "not classified", `${offer.intention} ${offer.text}`]);
  for (const moment of run.data.moments) said.push([moment.t_s, moment.class, `moment ${moment.id}`, moment.class, moment.title]);
  for (const row of run.failures) said.push([run.captured_s[row], "failed", `decision ${run.data.decisions.seq[row]}`, run.data.decisions.kinds[run.data.decisions.kind[row]], run.data.failed.said[run.data.decisions.seq[row]] ?? ""]);
  for (const one of run.data.answers ?? []) said.push([one.t_s, one.said, `answer to ${one.seq}`, one.said, `${MARKS[one.said].says.replace("answered: ", "")}${one.by ? `, by ${one.by}` : ""}${!one.dated ? "; when is not known" : one.said_s > one.t_s ? `; said at ${clock(one.said_s)}, after the end` : ""}`]);
  said.sort((a, b) => a[0] - b[0]);
  const held = run.data.offers.filter((offer) => offer.mark === "held_back").length;
  const rows = said.slice(0, ROWS).map(([t, mark, what, verdict, words]) => el("tr", {},
    el("td", {}, el("button", { type: "button", class: "more", "aria-label": `go to ${clock(t)}, ${plain(what)}`, on: { click: () => go(t, { show: true }) } }, clock(t))),
    el("td", {}, swatch(mark)), el("td", {}, what), el("td", {}, verdict.replaceAll("_", " ")), el("td", {}, text(words, { limit: 140 }))));
  const intents = run.data.intents.map((one) => el("li", {}, `${one.what === "prediction" ? "predicted" : one.what}: `, text(one.title, { limit: 200 }), el("strong", {}, ` ${one.class}`), ". ", text(one.why.join(" "), { limit: 300 })));
  put(byId("list"),
    el("p", {}, `Of run ${run.letter}: ${count(said.length)}${said.length > ROWS ? `, the first ${ROWS} here` : ""}.`, held ? ` ${count(held)} offers that the gate held back are not listed.` : ""),
    intents.length ? el("div", {}, el("h3", {}, "Intents of the trajectory"), el("ul", {}, intents)) : "",
    rows.length ? el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Needs and offers" }, el("table", {}, el("thead", {}, el("tr", {}, ["at", "mark", "what", "counted as", "words"].map((w) => el("th", { scope: "col" }, w)))), el("tbody", {}, rows))) : "");
}

// ---------------------------------------------------------------- moving

// Where somebody goes: who steps back from what is being played wants to stay there, so it is followed no more.
function go(t, how = {}) {
  if (t < newest() - session.period / 2) byId("follow").checked = false;
  seek(t, how);
}
const newest = () => Math.max(0, ...session.runs.filter((run) => run.data.status === "running").map((run) => run.captures.at(-1) ?? 0));

let told = 0, resting = 0;
function bringUp() {
  const i = session.shotAt(state.t), run = session.runs[state.chosen], r = session.recording, span = session.spanAt(state.t);
  frame.show(i, r ? session.gapAt(state.t) : null);
  if (span?.join() !== state.span) {
    state.span = span?.join();
    put(byId("window"), span ? [el("strong", {}, text(span[2] === null ? "unknown app" : r.apps[span[2]], { limit: 80 })), " ", text(span[3] === null ? "" : r.titles[span[3]], { limit: 160 })] : "");
  }
  byId("now").textContent = `${clock(state.t, 1)} / ${clock(session.end)}`;
  clearTimeout(resting);
  const now = performance.now();
  if (now - told > 90) { told = now; panel.show(session, run, state.t); }  // while scrubbing a few times a second
  resting = setTimeout(() => {
    panel.show(session, run, state.t, 0);
    if (!state.playing) frame.ahead(i);
    remember();
  }, state.playing ? 400 : 120);
}

function remember() {
  const shown = session.runs.slice(1).map((run) => run.id);
  const hash = `#t=${Math.round(state.t * 1e6) / 1e6}${shown.length ? `&runs=${[own, ...shown].join(",")}` : ""}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
  if (state.playing) return;
  const run = session.runs[state.chosen], row = run.rowAt(state.t), d = run.data.decisions;
  byId("said").textContent = `${clock(state.t, 1)}. ${row === null ? "No decision yet" : `Decision ${d.seq[row]}, ${d.kinds[d.kind[row]]}`}.${session.openNeeds(state.t).map((need) => ` Need ${plain(need.id)} is open.`).join("")}`;
}

function nowhere(said) {
  byId("said").textContent = said;
  flash(said);
}
let flashing = 0;
function flash(said) {
  clearTimeout(flashing);
  byId("hits").textContent = said;
  flashing = setTimeout(() => { byId("hits").textContent = state.hits.length ? `${state.hit + 1} of ${state.hits.length}` : ""; }, 2500);
}

function choose(i) {
  state.chosen = i;
  byId("panel-run").value = i;
  figures();
  listed();
  seek(state.t);
}

async function search(query) {
  state.hits = [];
  state.hit = -1;
  try {
    const found = await ask(`${of(own, unit)}/search?q=${encodeURIComponent(query)}`);
    state.hits = found.hits;
    if (!found.n) flash("nothing found");
    else hit(1);
  } catch (error) { flash(error instanceof Refused ? error.message : "the search failed"); }
  repaint();
}
function hit(direction) {
  if (!state.hits.length) return flash("nothing searched");
  const times = state.hits.map(([t]) => t);
  const to = Session.next(times, state.t, direction) ?? (direction > 0 ? times[0] : times.at(-1));
  state.hit = times.indexOf(to);
  go(to, { show: true });
  flash(`${state.hit + 1} of ${state.hits.length}`);
}

// ---------------------------------------------------------------- pointer

const base = byId("base");
let dragging = null;
base.addEventListener("pointerdown", (event) => {
  const [x, y] = drawing.at(event), lane = drawing.laneAt(y);
  stop();
  base.setPointerCapture(event.pointerId);
  dragging = lane?.kind === "overview" ? "overview" : "cursor";
  const found = drawing.under(x, y);
  state.selected = null;
  if (found?.run) {
    const at = session.runs.indexOf(found.run);
    if (at !== state.chosen) choose(at);
  }
  const t = found?.offer ? found.offer.captured_s : found?.moment ? found.moment.t_s : null;
  if (dragging === "cursor" && t !== null) {
    state.selected = { t: found.offer ? found.offer.arrived_s : t, y: found.lane.top + (found.offer ? 12 : found.lane.inner / 2) };
    go(t);
    dragging = null;
  } else move(event);
});
function move(event) {
  const [x] = drawing.at(event);
  if (dragging === "overview") lookAt(x);
  else if (dragging) go(drawing.t(x));
}
base.addEventListener("pointermove", (event) => { if (dragging) move(event); hover(event); });
for (const end of ["pointerup", "pointercancel"]) base.addEventListener(end, () => { dragging = null; });
base.addEventListener("pointerleave", () => { state.hover = null; byId("tip").hidden = true; repaint(); });

function hover(event) {
  const tip = byId("tip"), [x, y] = drawing.at(event), lane = drawing.laneAt(y);
  const t = lane?.kind === "overview" ? (x / drawing.width) * session.end : drawing.t(x);
  state.hover = lane?.kind === "overview" ? null : t;
  const lines = [clock(t, 1)], found = drawing.under(x, y);
  if (found?.offer) lines.push(`offer ${found.offer.id}: ${MARKS[found.offer.mark]?.says ?? found.offer.class}`, `${found.offer.intention} ${found.offer.text}`.slice(0, 160));
  else if (found?.answer) lines.push(`answer to decision ${found.answer.seq}: ${found.answer.said}`, `${found.answer.by ?? "somebody"}${found.answer.dated ? "" : "; when is not known, drawn where the offer arrived"}`.slice(0, 160));
  else if (found?.moment) lines.push(`${found.moment.class.replaceAll("_", " ")}`, found.moment.title.slice(0, 160));
  else if (found?.need) lines.push(`need ${found.need.id}`, String(found.need.title ?? `${found.need.intention} until ${clock(found.need.closes_s, 1)} ${found.need.query ?? ""}`).slice(0, 200));
  else if (lane?.kind === "latency" && found.run) {
    const row = found.run.rowAt(t);
    if (row !== null) lines.push(found.run.parts(row).map(([name, s]) => `${name} ${ms(s * 1000)}`).join(", "));
  }
  const span = session.spanAt(t), gap = session.gapAt(t);
  if (gap) lines.push(`nothing recorded: ${gap[2]}`);
  else if (span && (lane?.kind === "apps" || lane?.kind === "overview")) lines.push(`${span[2] === null ? "?" : session.recording.apps[span[2]]}: ${span[3] === null ? "" : session.recording.titles[span[3]]}`.slice(0, 160));
  const place = session.recording?.picture[session.shotAt(t)];
  const canvas = el("canvas", { width: 160, height: 90, "aria-hidden": "true" });
  const shown = place !== null && place !== undefined && !gap && !frame.gone.has(place) && frame.small(canvas, place);
  put(tip, shown ? canvas : "", lines.map((line) => el("div", { dir: "auto" }, line)));
  tip.hidden = false;
  const right = event.clientX + 16 + tip.offsetWidth > innerWidth;
  tip.style.left = `${Math.max(4, right ? event.clientX - tip.offsetWidth - 12 : event.clientX + 16)}px`;
  tip.style.top = `${Math.max(4, event.clientY - tip.offsetHeight - 12)}px`;
  repaint();
}

// ---------------------------------------------------------------- controls and keys

moving.buttons();
byId("next-need").addEventListener("click", () => jump(session.needs, 1, "no later need"));
byId("next-error").addEventListener("click", () => jump(session.errors, 1, "no later error"));
byId("panel-run").addEventListener("change", (event) => choose(Number(event.target.value)));
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const query = byId("query").value.trim();
  if (!query) return;
  if (state.query === query && state.hits.length) hit(1); else { state.query = query; search(query); }
});
byId("query").addEventListener("keydown", (event) => { if (event.key === "Escape") base.focus(); });

moving.stepKeys();
key("Shift+ArrowLeft", "previous offer", when(() => jump(session.assists, -1, "no earlier offer")));
key("Shift+ArrowRight", "next offer", when(() => jump(session.assists, 1, "no later offer")));
moving.appKeys();
key("g", "next need", when(() => jump(session.needs, 1, "no later need")));
key("G", "need before", when(() => jump(session.needs, -1, "no earlier need")));
key("e", "next error: unwanted offer, missed need or failed decision", when(() => jump(session.errors, 1, "no later error")));
key("E", "error before", when(() => jump(session.errors, -1, "no earlier error")));
moving.playKeys();
key("/", "search titles and texts", when(() => { byId("query").focus(); byId("query").select(); }));
key("n", "next found", when(() => hit(1)));
key("N", "found before", when(() => hit(-1)));
moving.viewKeys();
key("r", "the panel shows the next run", when(() => choose((state.chosen + 1) % session.runs.length)));

addEventListener("themechange", () => { if (drawing) { drawing.recolour(); legend(); listed(); redraw(); panel.fill(); } });
addEventListener("hashchange", () => { const t = session && linked(); if (t !== null) seek(t, { show: true }); });
new ResizeObserver(() => {
  if (!session || byId("lanes").clientWidth === wide) return;
  refill();
  seek(state.t);
}).observe(byId("lanes"));

// ---------------------------------------------------------------- following

let reading = false;
async function again() {
  if (reading || document.hidden || !session?.runs.some((run) => run.data.status === "running")) return;
  reading = true;
  try {
    const atEnd = drawing.to >= session.end - 1e-6, whole = atEnd && drawing.from === 0;
    const data = await Promise.all(session.runs.map((run) => (run.data.status === "running" ? ask(`${of(run.id, run.data.unit)}/timeline`) : run.data)));
    if (!session.recording || session.recording.going_on) {
      const recording = await ask(`${of(own, unit)}/recording`);
      session.recording = recording.there ? recording : null;
      frame = new Frame(session.recording, frame);
    }
    session.use(data.map((one, i) => new Lanes(one, LETTERS[i])));
    panel.forget();
    if (whole) drawing.view(0, session.end);
    else if (atEnd) drawing.view(session.end - (drawing.to - drawing.from), session.end);
    refill();
    const follows = byId("follow").checked && !state.playing;
    seek(follows ? newest() : state.t, { show: follows });
    put(byId("problem"));
  } catch (error) { failed(byId("problem"), error); } finally { reading = false; }
}

// For tests and measurements.
globalThis.timeline = { state, get session() { return session; }, get drawing() { return drawing; }, seek, zoom };

try {
  await open();
  await sessions();
  listen({ runs: ({ changed, all }) => { if (all || session.runs.some((run) => changed[run.id])) again(); } }, { reset: again });
} catch (error) {
  byId("opening")?.remove();
  failed(byId("problem"), error);
}
