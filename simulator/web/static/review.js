// Privacy review: retain, blur or delete one picture after the other. A decision is in the recording before this page says
// so; nothing is changed until the decisions are carried out. Pictures are never kept by the browser.
import { Refused, ask, byId, clock, count, el, failed, key, page, plain, put, tell, text } from "/static/base.js";

page({ title: "Review" });
const id = location.pathname.split("/")[2], at = `/api/review/${id}`, AHEAD = 3;
const WORDS = { retain: "✓ retain", blur: "▨ blur", delete: "✕ delete", spread: "▨ blur, as a neighbour" };
const state = { pictures: [], decided: {}, closing: null, filter: "waiting", at: null, steps: [], boxes: [], drawn: new Map(), about: new Map(), busy: false };
const images = new Map();  // key -> Image, a few; in the memory of this page only

const list = () => state.pictures.filter((one) => state.filter === "all" || (state.filter === "decided" ? state.decided[one.key] : one.waits && !state.decided[one.key]));
const now = () => state.pictures.find((one) => one.key === state.at) ?? null;
const say = (words) => { byId("said").textContent = words; };

// ---------------------------------------------------------------- reading

async function load() {
  const data = await ask(at);
  put(byId("name"), el("a", { href: "/recordings" }, "Recordings"), " / ", text(data.session, { limit: 60 }));
  document.title = `Review ${plain(data.session).slice(0, 80)} · proact`;
  if (!data.pictures) {
    const n = data.standing.pictures;
    put(byId("count"), `${count(n.unreviewed)} pictures wait, ${count(n.passed)} passed, ${count(n.redacted)} redacted; ${count(data.standing.decisions)} decisions are not carried out`);
    if (data.going) return follow();
    return put(byId("notes"), el("p", { class: "notice" }, "These pages only show. To review, start them with: ", el("code", {}, "proact view --edit FOLDER"), " (or in a terminal: ", el("code", {}, "proact dataset privacy review FOLDER"), ")"));
  }
  Object.assign(state, { pictures: data.pictures, about: new Map(), boxes: [], drawn: new Map() });
  images.clear();
  take(data);
  byId("whole").hidden = false;
  if (!now()) state.at = null;
  const first = now() ?? list()[0] ?? state.pictures[0];
  if (first) show(first.key); else put(byId("sheet"), el("p", {}, "This session has no pictures."));
}

function take({ decided, closing, newest }) {
  Object.assign(state, { decided, closing, newest });
  const n = state.pictures.length, done = Object.keys(decided).length, wait = state.pictures.filter((one) => one.waits && !decided[one.key]).length;
  put(byId("count"), `${count(done)} of ${count(n)} decided, ${count(wait)} still wait`);
  byId("bar").value = n ? (n - wait) / n : 1;
  put(byId("says"), closing.says.length ? closing.says.map((line) => el("li", {}, line)) : el("li", {}, "Nothing is decided yet."));
  byId("close").disabled = !closing.n || state.busy;
  byId("undo").disabled = !closing.n;
}

// ---------------------------------------------------------------- a picture

function image(key_) {
  let one = images.get(key_);
  if (!one) {
    one = el("img", { alt: "the picture that is decided about", src: `${at}/picture/${key_}` });
    one.draggable = false;
    images.set(key_, one);
    while (images.size > AHEAD * 2 + 2) images.delete(images.keys().next().value);
  }
  return one;
}

function show(key_) {
  state.at = key_;
  const one = now(), shown = image(key_), said = state.decided[key_];
  state.boxes = (state.drawn.get(key_) ?? (said?.boxes.length ? said.boxes : one.found.filter((f) => !f.filled).map((f) => f.box))).map((box) => [...box]);
  put(byId("sheet"), shown);
  shown.onerror = () => { if (shown.isConnected) put(byId("sheet"), el("span", { class: "no-picture", role: "img", "aria-label": "the picture cannot be shown" }, "✕ this picture cannot be shown")); };
  shown.onload = () => { if (state.at === key_) draw(); };
  draw();
  facts();
  put(byId("alike"));
  clearTimeout(state.resting);
  state.resting = setTimeout(about, 250);
  const all = list(), i = all.findIndex((other) => other.key === key_);
  for (const other of all.slice(i + 1, i + 1 + AHEAD)) image(other.key);
  put(byId("at"), i < 0 ? `– / ${count(all.length)}` : `${count(i + 1)} / ${count(all.length)}`);
  say(`picture at ${clock(one.at_s, 1)}, ${said ? WORDS[said.decision] : one.waits ? "waits" : one.state}`);
}

function facts() {
  const one = now(), said = state.decided[one.key], known = state.about.get(one.key);
  const kinds = {};
  for (const f of one.found) kinds[`${f.kind}${f.filled ? ", filled" : ""}`] = (kinds[`${f.kind}${f.filled ? ", filled" : ""}`] ?? 0) + 1;
  const found = Object.entries(kinds).map(([kind, n]) => `${n} × ${plain(kind)}`).join("; ");
  const rows = [["decision", said ? el("strong", {}, WORDS[said.decision] ?? plain(said.decision)) : "none yet"], ["at", `${clock(one.at_s, 1)}, monitor ${one.monitor}, ${count(one.rows)} snapshot${one.rows === 1 ? "" : "s"}`], ["state", plain(one.state)],
    ["waits for", one.why.length ? text(one.why.join(", "), { limit: 200 }) : "–"], ["found", found || "–"], ...(one.masked ? [["masked", `${count(one.masked)} areas while recording`]] : [])];
  for (const [app, title] of (known?.windows ?? []).slice(0, 5)) rows.push(["window", [text(app ?? "unknown", { limit: 60 }), ": ", text(title ?? "", { limit: 160 })]]);
  put(byId("facts"), rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  const marks = { retain: "retain", blur: "blur", spread: "blur", delete: "delete" };
  for (const name of ["retain", "blur", "delete"]) byId(name).setAttribute("aria-pressed", String(Boolean(said) && marks[said.decision] === name));
}

async function about() {
  const key_ = state.at;
  try {
    if (!state.about.has(key_)) state.about.set(key_, await ask(`${at}/about/${key_}`));
  } catch { return; }  // it went meanwhile; the next decision says so
  if (state.at !== key_) return;
  facts();
  const same = state.about.get(key_).alike.filter((other) => other !== key_ && !state.decided[other]);
  put(byId("alike"), same.length ? [`${count(same.length)} undecided picture${same.length === 1 ? "" : "s"} around it ${same.length === 1 ? "is" : "are"} nearly the same: `, el("button", { type: "button", class: "more", on: { click: () => decide("retain", true) } }, "retain all ", el("kbd", {}, "R")), " ", el("button", { type: "button", class: "more", on: { click: () => decide("delete", true) } }, "delete all ", el("kbd", {}, "D"))] : "");
}

function go(by) {
  const all = list(), order = state.pictures, from = order.findIndex((one) => one.key === state.at);
  const next = by > 0 ? all.find((one) => order.indexOf(one) > from) : all.filter((one) => order.indexOf(one) < from).at(-1);
  if (next) show(next.key); else say(by > 0 ? "no later picture" : "no earlier picture");
  return Boolean(next);
}

// ---------------------------------------------------------------- boxes

const size = () => { const img = byId("sheet").querySelector("img"); return img?.naturalWidth ? [img.naturalWidth, img.naturalHeight] : null; };

function draw(focus = null) {
  const real = size(), sheet = byId("sheet");
  sheet.querySelectorAll(".rv-box").forEach((node) => node.remove());
  if (real) {
    state.boxes.forEach((box, i) => {
      const node = el("button", { type: "button", class: "rv-box", "aria-label": `box ${i + 1} of ${state.boxes.length}, at ${box[0]}, ${box[1]}, ${box[2]} by ${box[3]} pixels`, style: { left: `${(box[0] / real[0]) * 100}%`, top: `${(box[1] / real[1]) * 100}%`, width: `${(box[2] / real[0]) * 100}%`, height: `${(box[3] / real[1]) * 100}%` } }, el("i", { "aria-hidden": "true" }));
      node.addEventListener("keydown", (event) => keyed(event, i));
      sheet.append(node);
      if (i === focus) node.focus();
    });
  }
  put(byId("boxes"), state.boxes.length ? state.boxes.map((box, i) => el("li", {}, el("span", {}, `${i + 1}: ${box[2]} × ${box[3]} at ${box[0]}, ${box[1]}`), el("button", { type: "button", class: "more", "aria-label": `adjust box ${i + 1}`, on: { click: () => sheet.querySelectorAll(".rv-box")[i]?.focus() } }, "adjust"), el("button", { type: "button", class: "more", "aria-label": `remove box ${i + 1}`, on: { click: () => drop(i) } }, "remove"))) : el("li", {}, "None."));
  byId("blur-says").textContent = state.boxes.length ? `Blur ${state.boxes.length === 1 ? "the box" : `${state.boxes.length} boxes`}` : "Blur all of it";
}

// A box within the picture, in whole pixels, one at least.
function fit([x, y, w, h]) {
  const [wide, high] = size();
  const width = Math.min(Math.max(1, Math.round(w)), wide), height = Math.min(Math.max(1, Math.round(h)), high);
  return [Math.min(Math.max(0, Math.round(x)), wide - width), Math.min(Math.max(0, Math.round(y)), high - height), width, height];
}

let saving = 0;
function boxed(focus = null) {
  state.drawn.set(state.at, state.boxes.map((box) => [...box]));
  draw(focus);
  clearTimeout(saving);
  saving = 0;
  if (state.decided[state.at]?.decision === "blur" && state.boxes.length) {  // it was decided with other boxes
    const key_ = state.at;
    saving = setTimeout(() => { if (state.at === key_) decide("blur", false, true); }, 500);
  }
}
function drop(i) {
  state.boxes.splice(i, 1);
  boxed(Math.min(i, state.boxes.length - 1));
  say(`box removed, ${state.boxes.length} left`);
}
function more() {
  const real = size();
  if (!real) return;
  state.boxes.push(fit([real[0] * 0.4, real[1] * 0.45, real[0] * 0.2, real[1] * 0.1]));
  boxed(state.boxes.length - 1);
}

function keyed(event, i) {
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); return drop(i); }
  if (event.key === "Escape") { event.preventDefault(); return byId("main").focus(); }
  if (!move) return;
  event.preventDefault();
  event.stopPropagation();
  const [x, y, w, h] = state.boxes[i], step = event.altKey ? 1 : Math.max(1, Math.round(size()[0] / 200));
  state.boxes[i] = event.shiftKey ? fit([x, y, Math.min(w + move[0] * step, size()[0] - x), Math.min(h + move[1] * step, size()[1] - y)]) : fit([x + move[0] * step, y + move[1] * step, w, h]);
  boxed(i);
}

let drag = null;
const sheet = byId("sheet");
const point = (event) => {
  const real = size(), edge = sheet.querySelector("img").getBoundingClientRect();
  return [((event.clientX - edge.left) / edge.width) * real[0], ((event.clientY - edge.top) / edge.height) * real[1]];
};
sheet.addEventListener("pointerdown", (event) => {
  if (!size() || event.button) return;
  const node = event.target.closest(".rv-box"), i = node ? [...sheet.querySelectorAll(".rv-box")].indexOf(node) : -1;
  sheet.setPointerCapture(event.pointerId);
  drag = { from: point(event), i, whole: i >= 0 ? [...state.boxes[i]] : null, corner: Boolean(event.target.closest("i")), moved: false };
  if (node) node.focus();
  event.preventDefault();
});
sheet.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const to = point(event), dx = to[0] - drag.from[0], dy = to[1] - drag.from[1];
  if (!drag.moved && Math.hypot(dx, dy) < size()[0] / 200) return;
  drag.moved = true;
  if (drag.i < 0) { state.boxes.push([0, 0, 1, 1]); drag.i = state.boxes.length - 1; }
  const [wide, high] = size(), inside = (v, most) => Math.min(Math.max(v, 0), most), w = drag.whole;
  if (!w) {
    const [x0, x1] = [inside(drag.from[0], wide), inside(to[0], wide)].sort((a, b) => a - b), [y0, y1] = [inside(drag.from[1], high), inside(to[1], high)].sort((a, b) => a - b);
    state.boxes[drag.i] = fit([x0, y0, x1 - x0, y1 - y0]);
  } else state.boxes[drag.i] = drag.corner ? fit([w[0], w[1], Math.min(w[2] + dx, wide - w[0]), Math.min(w[3] + dy, high - w[1])]) : fit([w[0] + dx, w[1] + dy, w[2], w[3]]);
  draw();
  sheet.querySelectorAll(".rv-box")[drag.i]?.classList.add("now");
});
sheet.addEventListener("pointerup", () => { if (drag?.moved) boxed(drag.i); drag = null; });
sheet.addEventListener("pointercancel", () => { drag = null; draw(); });

// ---------------------------------------------------------------- deciding

let before = Promise.resolve();
function order(given, then) {
  before = before.then(async () => {
    try {
      const data = await tell(at, typeof given === "function" ? given() : given);
      take(data);
      put(byId("problem"));
      then(data);
    } catch (error) { failed(byId("problem"), error); }
  });
  return before;
}

// Decide about the picture that is shown; with those that are nearly the same; or without going on.
async function decide(word, together = false, stay = false) {
  if (!now() || state.busy) return;
  clearTimeout(saving);
  const key_ = state.at;
  if (together) await about();
  if (state.at !== key_) return;
  const boxes = word === "blur" ? state.boxes : [];
  if (word === "blur" && !size()) return say("this picture cannot be shown, so it cannot be blurred");
  const same = together ? (state.about.get(key_)?.alike ?? []).filter((other) => other !== key_ && !state.decided[other]) : [];
  const pictures = [key_, ...same];
  // What this page knows of them when it is their turn: another page may have decided otherwise meanwhile.
  const seen = () => Object.fromEntries(pictures.filter((one) => state.decided[one]).map((one) => [one, state.decided[one]]));
  return order(() => ({ do: "decide", decision: word, pictures, boxes, seen: seen() }), ({ made }) => {
    state.steps.push(made);
    if (state.at !== key_) return;
    if (stay) return facts();
    const left = state.filter === "waiting" ? list()[0] : null;
    if (!go(1) && left) show(left.key); else if (state.at === key_) show(key_);
    say(`${word}${same.length ? `, with ${same.length} more` : ""}; ${byId("count").textContent}`);
  });
}

function undo() {
  if (!state.closing?.n || state.busy) return say("nothing that this page shows is left to undo");
  // What this page made last, else the newest that it was told of: never what another page decided since.
  return order(() => ({ do: "undo", made: state.steps.at(-1) ?? state.newest }), ({ undone }) => {
    state.steps.pop();
    for (const key_ of undone) state.drawn.delete(key_);
    if (undone[0] && state.pictures.some((one) => one.key === undone[0])) show(undone[0]);
    say("undone");
  });
}

// ---------------------------------------------------------------- carrying out

byId("close").addEventListener("click", () => before.then(() => {
  if (!state.closing.n) return;
  put(byId("sure-says"), state.closing.says.map((line) => el("li", {}, line)));
  byId("sure-alike").hidden = !state.closing.delete;
  byId("neighbours").checked = false;
  byId("sure").showModal();
  byId("no").focus();
}));
byId("no").addEventListener("click", () => byId("sure").close());
byId("yes").addEventListener("click", async () => {
  byId("sure").close();
  try {
    await tell(at, { do: "close", n: state.closing.n, neighbours: byId("neighbours").checked });
    await follow();
  } catch (error) { failed(byId("problem"), error); }
});

async function follow() {
  state.busy = true;
  for (const name of ["retain", "blur", "delete", "undo", "close", "new"]) byId(name).disabled = true;
  let said;
  do {
    said = await ask(`${at}/closing`);
    put(byId("going"), said.going ? `${count(said.done)} of ${count(said.of)} carried out …` : "");
    if (said.going) await new Promise((go_) => setTimeout(go_, 200));
  } while (said.going);
  state.busy = false;
  for (const name of ["retain", "blur", "delete", "new"]) byId(name).disabled = false;
  state.steps = [];
  state.at = null;
  await load();
  if (said.error) return failed(byId("problem"), new Refused(said.error));
  const r = said.result;
  if (r) put(byId("going"), `Carried out: ${count(r.retained)} retained, ${count(r.blurred)} filled, ${count(r.spread)} more filled as neighbours, ${count(r.deleted)} deleted, ${count(r.like)} nearly the same as a deleted one; ${count(r.waiting)} wait.${r.beside ? ` Beside the recording, ${r.beside}.` : ""}`);
}

// ---------------------------------------------------------------- controls and keys

const click = (name, act) => byId(name).addEventListener("click", act);
click("retain", () => decide("retain"));
click("blur", () => decide("blur"));
click("delete", () => decide("delete"));
click("undo", undo);
click("new", more);
click("back", () => go(-1));
click("forth", () => go(1));
function filter(name) {
  state.filter = byId("filter").value = name;
  const all = list();
  if (all.length && !all.some((one) => one.key === state.at)) show(all[0].key); else if (state.at) show(state.at);
  say(`${all.length} pictures`);
}
byId("filter").addEventListener("change", (event) => filter(event.target.value));

const when = (act) => () => state.pictures.length && !state.busy && act();
key("r", "retain", when(() => decide("retain")));
key("b", "blur the boxes, or all of it where there is none", when(() => decide("blur")));
key("d", "delete", when(() => decide("delete")));
key("R", "retain it and those nearly the same", when(() => decide("retain", true)));
key("D", "delete it and those nearly the same", when(() => decide("delete", true)));
key("u", "undo the last decision", when(undo));
key("ArrowRight", "next picture", when(() => go(1)));
key("ArrowLeft", "previous picture", when(() => go(-1)));
key("n", "new box; then arrows, Shift + arrows, Del", when(more));
key("f", "show those that wait, all, the decided ones", when(() => filter({ waiting: "all", all: "decided", decided: "waiting" }[state.filter])));

try {
  await load();
} catch (error) { failed(byId("problem"), error); }
byId("opening")?.remove();

// For tests.
globalThis.review = { state, get settled() { return before; }, list };
