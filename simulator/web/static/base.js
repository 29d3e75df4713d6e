// What all pages share. Text gets into a page through textContent only: window titles, agents' answers and file names
// are other people's words. Nothing here (or in any page) writes HTML; the server's policy refuses it too.

// ---------------------------------------------------------------- text

// Characters that would act instead of being seen: controls, directions of writing, invisible joints, tags.
const ACTING = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\uD800-\uDFFF](?![\uDC00-\uDFFF])(?<![\uD800-\uDBFF][\uDC00-\uDFFF])|\uDB40[\uDC00-\uDFFF]/g;

// Other people's text, with what would act shown as a mark. Line breaks stay.
export function plain(value) {
  return String(value ?? "").replace(/\r\n?/g, "\n").replace(ACTING, (c) => {
    const code = c.codePointAt(0);
    if (code === 9) return "→";
    if (code < 32) return String.fromCharCode(0x2400 + code);
    if (code === 127) return "␡";
    return "�";
  });
}

// How a text ends of which the server sent the beginning only (simulator.web.clipping).
const LEFT_OUT = /… \((\d+) more characters\)$/;
export const beginning = (sent) => sent.replace(LEFT_OUT, "");
function length(whole) {
  const cut = LEFT_OUT.exec(whole);
  return cut ? `${count(cut.index)} of ${count(cut.index + Number(cut[1]))}` : count(whole.length);
}

// Other people's text as an element, kept apart from the text around it; a long one is cut and can be opened.
export function text(value, { limit = 300, tag = "span" } = {}) {
  const whole = plain(value);
  const letters = Array.from(whole.slice(0, limit * 2 + 2));
  const node = el(tag, { class: "said", dir: "auto" });
  if (letters.length <= limit) {
    node.textContent = whole;
    return node;
  }
  const words = el("span", {}, letters.slice(0, limit).join("") + "…");
  const more = el("button", { type: "button", class: "more", "aria-expanded": "false" }, `more (${length(whole)} characters)`);
  more.addEventListener("click", (event) => {
    event.stopPropagation();
    const open = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", String(open));
    words.textContent = open ? whole : letters.slice(0, limit).join("") + "…";
    more.textContent = open ? "less" : `more (${length(whole)} characters)`;
  });
  node.append(words, " ", more);
  return node;
}

// ---------------------------------------------------------------- elements

const PLAIN_ATTRIBUTES = /^(id|class|type|name|value|for|role|title|alt|tabindex|dir|lang|hidden|disabled|checked|selected|open|colspan|rowspan|scope|placeholder|min|max|step|rows|cols|maxlength|autocomplete|width|height|viewBox|d|x|y|x1|x2|y1|y2|cx|cy|r|rx|points|transform|fill|stroke|stroke-width|stroke-dasharray|text-anchor|aria-[a-z]+|data-[a-z-]+)$/;

// An element with attributes and children. Strings become text. href and src must point into this server.
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// The same for SVG.
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "style") Object.assign(node.style, value);
    else if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "href" || name === "src") node.setAttribute(name, ours(value));
    else if (/^(title|alt|aria-label)$/.test(name)) node.setAttribute(name, plain(value).slice(0, 2000));
    else if (PLAIN_ATTRIBUTES.test(name)) node.setAttribute(name, value === true ? "" : String(value));
    else throw new Error(`no attribute ${name} here`);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(plain(child)))));
  return node;
}

function ours(address) {
  const url = new URL(address, location.href);
  if (url.origin !== location.origin && url.protocol !== "blob:" && !/^data:image\//.test(String(address))) throw new Error("an address of another server");
  return String(address);
}

// Replace what an element holds.
export function put(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(plain(child)))));
  return node;
}

export const byId = (id) => document.getElementById(id);

// A picture that says so where it cannot be shown.
export function picture(id, alt) {
  const img = el("img", { alt, src: id ? `/picture/${id}` : undefined });
  img.addEventListener("error", () => { if (img.isConnected) img.replaceWith(el("span", { class: "no-picture", role: "img", "aria-label": `${alt}: cannot be shown` }, "✕ this picture cannot be shown")); });
  return img;
}

// ---------------------------------------------------------------- asking the server

export class Refused extends Error {}

// GET JSON; what the server refuses is thrown as its sentence.
export async function ask(address, options = {}) {
  let answer;
  try {
    answer = await fetch(ours(address), { credentials: "same-origin", ...options });
  } catch {
    throw new Refused("the server does not answer; is `proact` still running?");
  }
  let data = null;
  try { data = await answer.json(); } catch { /* not JSON */ }
  if (!answer.ok) throw new Refused(data?.error ?? `the server answered ${answer.status}`);
  return data;
}

// POST a command.
export function tell(address, data) {
  return ask(address, { method: "POST", headers: { "Content-Type": "application/json", "X-Proact": "1" }, body: JSON.stringify(data) });
}

// Show in an element that it could not be filled.
export function failed(node, error) {
  put(node, el("p", { class: "failed", role: "alert" }, "⚠ ", error instanceof Refused ? error.message : `this page has a fault: ${error?.message ?? error}`));
  if (!(error instanceof Refused)) console.error(error);
}

// ---------------------------------------------------------------- events

// Listen to the server: handlers by event name. `reset` is called when events were missed: ask for everything anew.
// A hidden page lets go of its connection (browsers allow six a server) and catches up when it is seen again.
export function listen(handlers, { reset = () => location.reload(), state = () => {} } = {}) {
  let source = null, last = "", wait = 500, timer = 0, stopped = false;
  const note = (event) => { if (event.lastEventId) last = event.lastEventId; };
  const connect = () => {
    if (stopped || source || document.hidden) return;
    source = new EventSource("/api/events" + (last ? `?after=${encodeURIComponent(last)}` : ""));
    source.addEventListener("hello", (event) => { note(event); wait = 500; state("connected"); });
    source.addEventListener("reset", (event) => { note(event); wait = 500; state("connected"); reset(); });
    for (const [name, act] of Object.entries(handlers)) source.addEventListener(name, (event) => { note(event); act(JSON.parse(event.data)); });
    source.onerror = () => { drop(); state("lost"); timer = setTimeout(connect, wait); wait = Math.min(wait * 2, 5000); };
  };
  const drop = () => { clearTimeout(timer); source?.close(); source = null; };
  document.addEventListener("visibilitychange", () => (document.hidden ? drop() : connect()));
  addEventListener("pagehide", drop);
  addEventListener("pageshow", (event) => event.persisted && connect());
  connect();
  return () => { stopped = true; drop(); };
}

// ---------------------------------------------------------------- numbers; unknown is "–", never 0

const known = (x) => typeof x === "number" && Number.isFinite(x);
export const count = (n) => (known(n) ? Math.round(n).toLocaleString("en").replaceAll(",", "\u202F") : "–");
// With what is counted: 1 run, 2 runs, – runs.
export const counted = (n, what, many = `${what}s`) => `${count(n)} ${n === 1 ? what : many}`;
export const fixed = (x, digits = 2) => (known(x) ? (Object.is(x, -0) ? 0 : x).toFixed(digits).replace("-", "−") : "–");
export const percent = (x, digits = 0) => (known(x) ? `${fixed(x * 100, digits)} %` : "–");
export const signed = (x, digits = 2) => (known(x) ? (x > 0 ? "+" : "") + fixed(x, digits) : "–");
// Milliseconds for people: 240 ms, 1.23 s, 75 s.
export const ms = (x) => (!known(x) ? "–" : Math.abs(x) < 1000 ? `${fixed(x, 0)} ms` : `${fixed(x / 1000, Math.abs(x) < 10000 ? 2 : Math.abs(x) < 60000 ? 1 : 0)} s`);
// Seconds on a session's clock: 0:42, 12:07, 1:02:03.
export function clock(s, digits = 0) {
  if (!known(s)) return "–";
  const unit = 10 ** digits, all = Math.round(Math.abs(s) * unit) / unit, h = Math.floor(all / 3600), m = Math.floor(all / 60) % 60;
  const rest = (all % 60).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  return (s < 0 ? "−" : "") + (h ? `${h}:${String(m).padStart(2, "0")}:${rest}` : `${m}:${rest}`);
}
export const bytes = (n) => (!known(n) ? "–" : n < 1e3 ? `${n} B` : n < 1e6 ? `${fixed(n / 1e3, 0)} kB` : n < 1e9 ? `${fixed(n / 1e6, 1)} MB` : `${fixed(n / 1e9, 2)} GB`);

// ---------------------------------------------------------------- keys

const keys = [];
const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "space", Escape: "Esc" };

// Have a key do something: key("g", "next need", () => …); with modifiers as "Alt+ArrowLeft", "Shift+ArrowRight".
export function key(combination, what, act) {
  keys.push({ combination, what, act });
}

const spelled = (combination) => combination.split("+").map((part) => KEY_NAMES[part] ?? part).join(" + ");
function pressed(event) {
  const name = event.key.length === 1 && event.key !== " " ? event.key : event.key;
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "") + shift + name;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const typing = event.target.closest?.("input:not([type=checkbox]):not([type=radio]):not([type=range]):not([type=button]), textarea, select, [contenteditable]");
  if (typing && event.key !== "Escape") return;
  if (document.querySelector("dialog[open]")) return;
  if ((event.key === " " || event.key === "Enter") && event.target.closest?.("button, a, summary, input, [role=tab]")) return;
  const found = keys.find((one) => one.combination === pressed(event));
  if (found) { event.preventDefault(); found.act(event); }
});

// All keys of this page as a table.
export function keyTable() {
  const rows = keys.map((one) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, spelled(one.combination))), el("td", {}, one.what)));
  return el("table", { class: "keys" }, el("caption", { class: "unseen" }, "Keys"), el("tbody", {}, rows));
}

let help = null;
function showHelp() {
  if (!help) {
    help = el("dialog", { class: "help", "aria-labelledby": "help-head" });
    document.body.append(help);
  }
  const close = el("button", { type: "button", on: { click: () => help.close() } }, "Close");
  put(help, el("h2", { id: "help-head" }, "Keys"), keyTable(), close);
  help.showModal();
  close.focus();
}

// ---------------------------------------------------------------- the page's frame

const THEMES = ["auto", "light", "dark"];
function theme(next) {
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("proact-theme", next); } catch { /* not kept */ }
  dispatchEvent(new Event("themechange"));
}
let stored = "auto";
try { stored = localStorage.getItem("proact-theme") ?? "auto"; } catch { /* not kept */ }
const wanted = new URLSearchParams(location.search).get("theme");
document.documentElement.dataset.theme = [wanted, stored, "auto"].find((name) => THEMES.includes(name));
export const kiosk = new URLSearchParams(location.search).has("kiosk");
document.documentElement.classList.toggle("kiosk", kiosk);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("themechange")));

// A colour of the page as it is now, for canvases: colour("--good"). Listen to "themechange" on window to draw anew.
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// How much larger than usual the page's text is (on a wall twice and more): canvases draw in the pixels of usual text,
// and are scaled by this, so that what they say grows with the words around it.
export const textScale = () => (Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16) / 16;

// Whether things may move.
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Head of every page: name, links, theme, help. Call once, first of all.
export function page({ title }) {
  document.title = `${plain(title)} · proact`;
  const skip = el("a", { class: "skip", href: "#main" }, "Skip to the content");
  const switcher = el("button", { type: "button", class: "quiet", on: { click: () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
    theme(next);
    name();
  } } });
  const name = () => put(switcher, `Theme: ${document.documentElement.dataset.theme}`);
  name();
  let live = location.pathname === "/live";
  try {
    if (live) sessionStorage.setItem("proact-live", "1");
    live ||= sessionStorage.getItem("proact-live") === "1";
  } catch { /* not kept */ }
  const links = [...(live ? [["/live", "Live"]] : []), ["/", "Runs"], ["/compare", "Compare"], ["/ablation", "Studies"], ["/recordings", "Recordings"], ["/about", "About"]].map(([href, what]) =>
    el("a", { href, "aria-current": location.pathname === href ? "page" : undefined }, what));
  const header = el("header", { class: "top" }, skip, el("a", { class: "name", href: "/" }, "proact"),
    el("nav", { "aria-label": "Pages" }, links), el("span", { class: "space" }), switcher,
    el("button", { type: "button", class: "quiet", "aria-haspopup": "dialog", on: { click: showHelp } }, "Keys ", el("kbd", {}, "?")));
  document.body.prepend(header);
}

key("?", "show the keys", showHelp);
