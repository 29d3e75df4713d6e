// Labelling: windows in which help was needed, marked on the timeline of a recording. Whatever is changed is in the
// recording before this page says so; undo and redo are the recording's, so they outlive this page.
import { Refused, ask, byId, clock, count, el, failed, key, page, plain, put, tell, text } from "/static/base.js";
import { Marked, Marking, spoken } from "/static/label_model.js";
import { Frame } from "/static/timeline_frame.js";
import { movingOver } from "/static/timeline_moving.js";

page({ title: "Label" });
const id = location.pathname.split("/")[2], SHORT_S = 10, TYPING_MS = 900;
const state = { t: 0, playing: false, by: "", data: null, recording: null, fixed: "", hover: null };
let session = null, drawing = null, frame = null;
const moving = movingOver(state, { bringUp, nowhere: flash, stepped: (t) => { byId("said").textContent = clock(t, 1); } }), { seek, redraw, lookAt, stop, when } = moving;
try { state.by = localStorage.getItem("proact-by") ?? ""; } catch { /* not kept */ }

const FIELDS = ["opens", "closes", "acted", "intention", "query", "weight", "note"];
const windows = () => state.data?.windows ?? [];
const selected = () => windows().find((one) => one.id === session.selected) ?? null;
const place = (t) => Math.round(Math.min(Math.max(t, 0), session.end) * 1000) / 1000;

// ---------------------------------------------------------------- to and from the recording

let before = Promise.resolve();
// One change after the other; gives whether it was made. The page shows what the recording holds then, not what it hoped
// for.
function send(change, { keep = false } = {}) {
  before = before.then(async () => {
    const given = typeof change === "function" ? change() : change;
    if (!given) return false;
    put(byId("saved"), "saving…");
    try {
      const data = await tell(`/api/label/${id}/windows`, { by: state.by, ...given });
      if (!keep) session.selected = data.made ?? session.selected;
      else if (data.made !== null) session.selected = data.made;
      shown(data);
      put(byId("saved"), "✓ saved");
      put(byId("problem"));
      return true;
    } catch (error) {
      put(byId("saved"), "✕ not saved");
      failed(byId("problem"), error);
      fill();
      return false;
    }
  });
  return before;
}

async function reload() {
  const data = await ask(`/api/label/${id}/windows?by=${encodeURIComponent(state.by)}`);
  shown(data);
}

function shown(data) {
  state.data = data;
  if (!selected()) session.selected = null;
  session.windows(data.windows);
  fix();
  fill();
  listed();
  closing();
  redraw();
}

// Why nothing can be marked now, if so.
function fix() {
  const why = !state.recording.editable ? "These pages only show. To label, start them with: proact view --edit FOLDER"
    : state.recording.being_recorded ? "This session is being recorded, or its recorder died: it can be labelled when it is closed."
      : state.data?.closed ? `${plain(state.by)} has closed: these windows cannot be changed any more. To label anew, take another pseudonym.` : "";
  state.fixed = why;
  put(byId("notes"), why ? el("p", { class: "notice" }, text(why)) : "");
  const idle = Boolean(why);
  for (const name of ["begin", "remove", ...FIELDS]) byId(name).disabled = idle;
  byId("end").disabled = byId("act").disabled = idle || !selected();
  byId("undo").disabled = idle || !state.data?.can_undo;
  byId("redo").disabled = idle || !state.data?.can_redo;
  byId("take").hidden = idle || !state.recording.accepted;
  put(byId("take"), `Take over ${count(state.recording.accepted)} needs from offers that were called useful`);
}

function may() {
  if (state.fixed) { flash(state.fixed); return false; }
  if (!state.by) {
    flash("first a pseudonym that stands by your labels");
    byId("by").focus();
    return false;
  }
  return true;
}

// ---------------------------------------------------------------- marking

const value = (one) => ({ id: one.id, opens_s: one.opens_s, closes_s: one.closes_s, acted_s: one.acted_s, intention: one.intention, query: one.query, note: one.note, weight: one.weight, origin: one.origin });
const changed = (more) => () => { const one = selected(); return one && { do: "change", ...value(one), ...more }; };

function add(from, to) {
  if (!may()) return;
  const opens = place(Math.min(from, Math.max(0, session.end - session.period))), closes = place(Math.max(to, opens + session.period));
  send({ do: "add", opens_s: opens, closes_s: closes }).then(() => say(`window opened at ${clock(opens, 1)}, closes at ${clock(closes, 1)}`));
}
const begin = () => add(state.t, state.t + SHORT_S);
function edge(which) {
  const one = selected();
  if (!one) return flash("no window is selected: o opens one, j and k select");
  if (!may()) return;
  const t = place(state.t);
  if (which === "closes" ? t <= one.opens_s : which === "opens" && t >= one.closes_s) return flash("a window closes after it opens");
  send(changed({ [`${which}_s`]: t })).then(() => say(`${which} at ${clock(t, 1)}`));
}
function remove() {
  const one = selected();
  if (!one) return flash("no window is selected");
  if (may()) send({ do: "remove", id: one.id }).then(() => say("window deleted; u undoes it"));
}
// The version that this page shows when it is their turn: what another page changed since is not taken back unseen.
const turn = (what, said) => send(() => ({ do: what, seen: state.data.version })).then((done) => { if (done) say(said); });
const undo = () => { if (may() && state.data.can_undo) turn("undo", "undone"); else if (!state.fixed) flash("nothing that this page shows is left to undo"); };
const redo = () => { if (may() && state.data.can_redo) turn("redo", "done again"); else if (!state.fixed) flash("nothing that this page shows was undone"); };

function select(one, { show = true } = {}) {
  flushNow();
  session.selected = one?.id ?? null;
  fill();
  fix();
  listed();
  redraw();
  if (one && show) seek(one.opens_s, { show: true });
  if (one) say(`window ${windows().indexOf(one) + 1}: ${plain(spoken(one))}`);
}
function next(by) {
  const all = windows();
  if (!all.length) return flash("no window is marked yet");
  const at = all.findIndex((one) => one.id === session.selected);
  select(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)]);
}

// ---------------------------------------------------------------- the form

function fill() {
  const one = selected();
  byId("form").hidden = !one;
  byId("none").hidden = Boolean(one);
  put(byId("none"), windows().length ? "Select a window: by a click, or with j and k." : "Go to where help began to be useful and press o; where it would have come too late, press c.");
  if (!one) return;
  const set = { opens: one.opens_s, closes: one.closes_s, acted: one.acted_s ?? "", intention: one.intention ?? "", query: one.query ?? "", weight: one.weight, note: one.note ?? "" };
  for (const name of FIELDS) if (document.activeElement !== byId(name)) byId(name).value = set[name];  // nobody's typing is overwritten
  put(byId("wrong"), one.problem ? `▲ ${plain(one.problem)}` : "", one.origin === "label" ? "" : ` (from an ${plain(one.origin)})`);
}

let typing = 0;
function read() {
  clearTimeout(typing);
  typing = 0;
  const one = selected();
  if (!one || state.fixed) return;
  const number = (name) => (byId(name).value.trim() === "" ? null : Number(byId(name).value));
  const given = { opens_s: number("opens"), closes_s: number("closes"), acted_s: number("acted"), weight: number("weight") ?? 1,
    intention: byId("intention").value.trim() || null, query: byId("query").value.trim() || null, note: byId("note").value.trim() || null };
  const same = (now) => Object.entries(given).every(([name, said]) => said === now[name]);
  if (!same(one) && may()) send(() => { const now = selected(); return now && !same(now) && { do: "change", ...value(now), ...given }; }, { keep: true });
}
function flushNow() { if (typing) read(); }
for (const name of FIELDS) {
  byId(name).addEventListener("change", read);
  byId(name).addEventListener("keydown", (event) => { if (event.key === "Escape") byId("base").focus(); });
}
// A longer text is not kept; cut here and not by the browser, which would say nothing of it.
const LONGEST = 4000;
for (const name of ["query", "note"]) byId(name).addEventListener("input", (event) => {
  const over = event.target.value.length - LONGEST;
  if (over <= 0) return;
  event.target.value = event.target.value.slice(0, LONGEST);
  say(`the ${name === "query" ? "question" : "note"} was cut: ${count(LONGEST)} characters are kept, ${count(over)} were left out`);
});
for (const name of ["query", "note", "intention"]) byId(name).addEventListener("input", () => { clearTimeout(typing); typing = name === "intention" ? 0 : setTimeout(read, TYPING_MS); });
byId("form").addEventListener("submit", (event) => event.preventDefault());
addEventListener("pagehide", flushNow);

// ---------------------------------------------------------------- the list, and closing

function listed() {
  const rows = windows().map((one, i) => el("tr", { class: one.id === session.selected ? "now" : null },
    el("td", {}, el("button", { type: "button", class: "more", "aria-label": `window ${i + 1}, ${plain(spoken(one))}`, "aria-pressed": String(one.id === session.selected), on: { click: () => select(one) } }, `${clock(one.opens_s, 1)} – ${clock(one.closes_s, 1)}`)),
    el("td", {}, one.acted_s === null ? "–" : clock(one.acted_s, 1)),
    el("td", {}, one.problem ? el("span", { class: "bad", title: one.problem }, "▲ ") : "", text(one.intention ?? "no intention yet", { limit: 60 })),
    el("td", {}, text(one.query ?? "", { limit: 120 }), one.note ? el("span", { class: "quiet-text" }, " ", text(one.note, { limit: 120 })) : "")));
  put(byId("list"), rows.length ? el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Windows" }, el("table", {}, el("thead", {}, el("tr", {}, ["window", "acted", "intention", "words"].map((w) => el("th", { scope: "col" }, w)))), el("tbody", {}, rows))) : el("p", {}, "None yet."));
}

function closing() {
  const { closing: plan, others, truth_by: truth, text: words } = state.data;
  put(byId("close-why"), plan.why ? text(plan.why) : "Closing makes these windows the truth of the session; until then nothing counts, and all can be undone.");
  byId("close").disabled = Boolean(state.fixed || plan.why || !state.by);
  put(byId("others"), others.map((one) => el("span", {}, text(one.by, { limit: 40 }), `: ${count(one.n)} windows${one.closed ? ", closed" : ""}. `)), truth.length ? el("strong", {}, "Truth now: ", text(truth.join(", ")), "'s windows.") : "");
  byId("text-box").hidden = !words;
  put(byId("text"), plain(words));
}
byId("close").addEventListener("click", () => {
  flushNow();
  before.then(() => {
    const plan = state.data.closing;
    if (plan.why) return;
    put(byId("sure-says"), plan.says.map((line) => el("p", {}, text(line, { limit: 600 }))));
    byId("sure-replace").hidden = !plan.replaces.length;
    byId("replace").checked = false;
    put(byId("replace-says"), "Mine take the place of those of ", text(plan.replaces.join(" and ")));
    byId("yes").disabled = plan.replaces.length > 0;
    byId("sure").showModal();
    byId("no").focus();
  });
});
byId("replace").addEventListener("change", (event) => { byId("yes").disabled = !event.target.checked; });
byId("no").addEventListener("click", () => byId("sure").close());
byId("yes").addEventListener("click", () => {
  byId("sure").close();
  send({ do: "close", seen: state.data.version, replace: byId("replace").checked }).then(() => { if (state.data.closed) say("closed: these windows are the truth of the session"); });
});
byId("take").addEventListener("click", () => { if (may()) send({ do: "take" }); });
byId("offers").addEventListener("change", async (event) => {
  try {
    session.offered = event.target.checked ? (await ask(`/api/label/${id}/offers`)).offers : null;
    if (session.offered && !session.offered.length) flash("no run of this session is shown here");
    arrange();
  } catch (error) { failed(byId("problem"), error); }
});
byId("by").addEventListener("change", async (event) => {
  flushNow();
  await before;
  state.by = event.target.value.trim();
  try { localStorage.setItem("proact-by", state.by); } catch { /* not kept */ }
  session.selected = null;
  try { await reload(); put(byId("problem")); } catch (error) { failed(byId("problem"), error); }
});
byId("by").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === "Escape") byId("base").focus(); });

// ---------------------------------------------------------------- moving

let resting = 0, flashing = 0;
function bringUp() {
  const i = session.shotAt(state.t), r = session.recording, span = session.spanAt(state.t);
  frame.show(i, session.gapAt(state.t));
  put(byId("window"), span ? [el("strong", {}, text(span[2] === null ? "unknown app" : r.apps[span[2]], { limit: 80 })), " ", text(span[3] === null ? "" : r.titles[span[3]], { limit: 160 })] : "");
  byId("now").textContent = `${clock(state.t, 1)} / ${clock(session.end)}`;
  clearTimeout(resting);
  resting = setTimeout(() => {
    if (!state.playing) frame.ahead(i);
    history.replaceState(null, "", `#t=${Math.round(state.t * 1000) / 1000}`);
  }, state.playing ? 400 : 120);
}
function say(words) { byId("said").textContent = words; flash(words); }
function flash(words) {
  clearTimeout(flashing);
  byId("flash").textContent = words;
  flashing = setTimeout(() => { byId("flash").textContent = ""; }, 4000);
}

// ---------------------------------------------------------------- pointer

const base = byId("base");
let drag = null;
base.addEventListener("pointerdown", (event) => {
  const [x, y] = drawing.at(event), lane = drawing.laneAt(y), t = drawing.t(x), held = drawing.held(x, y);
  stop();
  base.setPointerCapture(event.pointerId);
  const offer = session.offered && drawing.offerAt(x, y);
  if (offer) flash(plain(`${offer.intention}: ${offer.text}`).slice(0, 200));
  if (lane?.kind === "overview") drag = { kind: "overview" };
  else if (lane?.kind === "needs" && held) {
    const one = windows().find((w) => w.id === held.window);
    select(one, { show: false });
    drag = held.edge && !state.fixed ? { kind: "edge", edge: held.edge, one: { ...one }, moved: false } : { kind: "cursor" };
  } else if (lane?.kind === "needs" && !state.fixed) drag = { kind: "new", from: t, x };
  else drag = { kind: "cursor" };
  move(event);
});
function move(event) {
  const [x] = drawing.at(event), t = place(drawing.t(x));
  if (drag.kind === "overview") return lookAt(x);
  if (drag.kind === "edge" && event.type === "pointermove") {
    const { one, edge: which } = drag;
    if (which === "opens" ? t < one.closes_s : t > one.opens_s) {
      one[`${which}_s`] = t;
      drag.moved = true;
      session.windows(windows().map((w) => (w.id === one.id ? one : w)));
      redraw();
    }
  }
  if (drag.kind === "new" && Math.abs(x - drag.x) > 4) {
    drag.to = t;
    session.windows([...windows(), { id: -1, opens_s: Math.min(drag.from, t), closes_s: Math.max(drag.from, t), acted_s: null, intention: null, problem: null }]);
    redraw();
  }
  seek(drawing.t(x));
}
base.addEventListener("pointermove", (event) => {
  if (drag) move(event);
  else base.style.cursor = drawing.held(...drawing.at(event))?.edge ? "ew-resize" : "crosshair";
});
base.addEventListener("pointerup", () => {
  const done = drag;
  drag = null;
  if (done?.kind === "edge" && done.moved && may()) send(changed({ [`${done.edge}_s`]: done.one[`${done.edge}_s`] }));
  else if (done?.kind === "new" && done.to !== undefined && may()) add(Math.min(done.from, done.to), Math.max(done.from, done.to));
  else if (done) { session.windows(windows()); redraw(); }
});
base.addEventListener("pointercancel", () => { drag = null; session.windows(windows()); redraw(); });

// ---------------------------------------------------------------- controls and keys

const click = (name, act) => byId(name).addEventListener("click", act);
moving.buttons();
click("begin", begin);
click("end", () => edge("closes"));
click("act", () => edge("acted"));
click("remove", remove);
click("undo", undo);
click("redo", redo);

key("o", "a window opens here", when(begin));
key("c", "the selected window closes here", when(() => edge("closes")));
key("x", "the user acted alone here", when(() => edge("acted")));
key("[", "move its opening here", when(() => edge("opens")));
key("j", "select the next window", when(() => next(1)));
key("k", "select the window before", when(() => next(-1)));
key("i", "fill in its intention, question, note; Esc leaves", when(() => { if (selected() && !state.fixed) byId("intention").focus(); else flash("no window is selected"); }));
key("Delete", "delete the selected window", when(remove));
key("u", "undo", when(undo));
key("y", "redo", when(redo));
key("Ctrl+z", "undo", when(undo));
key("Ctrl+y", "redo", when(redo));
moving.stepKeys();
moving.appKeys();
moving.playKeys();
moving.viewKeys();

function arrange() {
  drawing.arrange(session, byId("lanes").clientWidth < 560);
  put(byId("labels"), drawing.lanes.filter((lane) => lane.label).map((lane) => el("div", { style: { top: `${lane.y / 16}rem`, height: `${lane.height / 16}rem` } }, el("span", {}, lane.label))));
  redraw();
}
addEventListener("themechange", () => { if (drawing) { drawing.recolour(); redraw(); } });
let wide = 0;
new ResizeObserver(() => {
  if (!session || byId("lanes").clientWidth === wide) return;
  wide = byId("lanes").clientWidth;
  arrange();
}).observe(byId("lanes"));

try {
  state.recording = await ask(`/api/label/${id}/recording`);
  session = new Marked(state.recording);
  session.selected = null;
  drawing = new Marking(byId("base"), byId("over"));
  frame = new Frame(state.recording, { thumb: byId("thumb"), full: byId("full"), note: byId("no-frame"), box: byId("frame") });
  byId("opening").remove();
  byId("whole").hidden = false;
  document.title = `Label ${plain(state.recording.session).slice(0, 80)} · proact`;
  put(byId("name"), el("a", { href: "/recordings" }, "Recordings"), " / ", text(state.recording.session, { limit: 60 }));
  put(byId("intentions"), state.recording.intentions.map((name) => el("option", { value: plain(name) })));
  byId("by").value = state.by;
  moving.begin(session, drawing);
  arrange();
  await reload();
  const t = Number.parseFloat(new URLSearchParams(location.hash.slice(1)).get("t"));
  seek(Number.isFinite(t) ? t : 0);
} catch (error) {
  byId("opening")?.remove();
  failed(byId("problem"), error);
}

// For tests.
globalThis.label = { state, get session() { return session; }, get drawing() { return drawing; }, get settled() { return before; }, seek };
