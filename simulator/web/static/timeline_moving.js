// Moving over a session, for every page that draws one on an axis of time: the cursor, playing, what part is seen.
// `state` is the page's: `t`, where the cursor is, and `playing`.
import { byId, key, put } from "/static/base.js";
import { Session } from "/static/timeline_model.js";

// `bringUp`: show what is at the cursor, asked for once a frame at most. `nowhere`: say that a jump leads nowhere. Where a
// page does more on the way: `go`, wherever somebody goes; `stepped`, after a step; `paused`.
export function movingOver(state, { bringUp, nowhere, go: goes = null, stepped = () => {}, paused = () => {} }) {
  const go = goes ?? seek;
  let session = null, drawing = null, moved = false, dirty = false, painting = 0, last = 0;

  // As soon as there is a session, and what it is drawn with.
  function begin(session_, drawing_) {
    [session, drawing] = [session_, drawing_];
    drawing.session = session;
    drawing.view(0, session.end);
  }

  // Go to an instant; what shows it is brought up to date once a frame. `show`: bring it well into view.
  function seek(t, { show = false } = {}) {
    state.t = Math.min(Math.max(t, 0), session.end);
    const span = drawing.to - drawing.from, edge = show ? span * 0.05 : 0;
    if (state.t < drawing.from + Math.min(edge, drawing.from) || state.t > drawing.to - (drawing.to < session.end ? edge : 0)) {
      drawing.view(state.t - span * (state.playing ? 0.1 : 0.4), state.t + span * (state.playing ? 0.9 : 0.6));
      dirty = true;
    }
    moved = true;
    repaint();
  }

  function repaint() {
    painting ||= requestAnimationFrame(() => {
      painting = 0;
      if (moved) { moved = false; bringUp(); }
      if (dirty) { dirty = false; drawing.draw(); }
      drawing.cursor(state.t, state);
    });
  }
  function redraw() { dirty = true; repaint(); }

  function step(by) {
    const i = session.shotAt(state.t), to = session.times[Math.min(Math.max(i + by, 0), session.times.length - 1)];
    stop();
    if (to !== undefined) { go(to); stepped(to); }
  }
  function jump(list, direction, none) {
    stop();
    const to = Session.next(list, state.t, direction);
    if (to === null) nowhere(none); else go(to, { show: true });
  }

  function look(from, to) { if (drawing.view(from, to)) redraw(); }
  function whole() { look(0, session.end); }
  function zoom(by, around = state.t) {
    const share = (around - drawing.from) / (drawing.to - drawing.from), span = (drawing.to - drawing.from) * by;
    look(around - share * span, around + (1 - share) * span);
  }
  function pan(by) {
    const span = drawing.to - drawing.from;
    look(drawing.from + by * span, drawing.to + by * span);
  }
  // The lane of the whole session was clicked, or is dragged over.
  function lookAt(x) {
    const t = (x / drawing.width) * session.end, half = (drawing.to - drawing.from) / 2;
    if (half * 2 < session.end) look(t - half, t + half);
    go(t);
  }

  function play() {
    state.playing = !state.playing;
    put(byId("play"), state.playing ? "⏸ Pause" : "▶ Play");
    if (!state.playing) return paused();
    if (state.t >= session.end - session.period) seek(0);
    last = performance.now();
    requestAnimationFrame(tick);
  }
  function stop() { if (state.playing) play(); }
  function tick(now) {
    if (!state.playing) return;
    const to = state.t + ((now - last) / 1000) * Number(byId("speed").value);
    last = now;
    seek(to);
    if (to >= session.end) stop(); else requestAnimationFrame(tick);
  }

  const when = (act) => () => session && act();
  function buttons() {
    const acts = { play, back: () => step(-1), forth: () => step(1), closer: () => zoom(0.5), farther: () => zoom(2), all: whole };
    for (const [name, act] of Object.entries(acts)) byId(name).addEventListener("click", act);
    byId("base").addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), drawing.t(drawing.at(event)[0]));
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
      else return;  // the page scrolls
      event.preventDefault();
    }, { passive: false });
  }
  // Keys are told in the order in which they are named: those of a page come before, between, or after these.
  function stepKeys() {
    key("ArrowLeft", "previous snapshot", when(() => step(-1)));
    key("ArrowRight", "next snapshot", when(() => step(1)));
  }
  function appKeys() {
    key("Alt+ArrowLeft", "previous change of app", when(() => jump(session.bounds, -1, "no earlier change of app")));
    key("Alt+ArrowRight", "next change of app", when(() => jump(session.bounds, 1, "no later change of app")));
  }
  function playKeys() {
    key(" ", "play or pause", when(play));
    for (const [n, speed] of [["1", "1"], ["2", "8"], ["3", "60"]]) key(n, `play at ${speed}×`, when(() => { byId("speed").value = speed; }));
  }
  function viewKeys() {
    key("w", "zoom in", when(() => zoom(0.5)));
    key("s", "zoom out", when(() => zoom(2)));
    key("a", "look earlier", when(() => pan(-0.25)));
    key("d", "look later", when(() => pan(0.25)));
    key("0", "the whole session", when(whole));
    key("Home", "to the start", when(() => { stop(); go(0); }));
    key("End", "to the end", when(() => { stop(); go(session.times.at(-1) ?? session.end); }));
  }

  return { begin, seek, repaint, redraw, jump, zoom, lookAt, stop, when, buttons, stepKeys, appKeys, playKeys, viewKeys };
}
