// The big frame: a thumbnail at once, the picture itself as soon as the cursor rests on it; and why there is none.
import { put } from "/static/base.js";

const ACROSS = 10, A_SHEET = 100, WIDE = 160, HIGH = 90;
// A browser has six connections to a server, and one of them listens. Sheets, which take long to make, never have them
// all; of the pictures the one at the cursor always finds one free.
const SHEETS_AT_ONCE = 2, PICTURES_AT_ONCE = 3;
const idle = globalThis.requestIdleCallback ?? setTimeout;
const WHY = { deleted: "This snapshot was deleted from the recording.", gone: "The file of this picture is not there.", none: "No picture was kept of this snapshot.", away: "The server does not answer, so there is no picture." };

// Whether the server says anything of an address: a picture that cannot be loaded does not tell.
const answers = (address) => fetch(address, { method: "HEAD", credentials: "same-origin" }).then(() => true, () => false);

export class Frame {
  constructor(recording, { thumb, full, note, box }) {
    Object.assign(this, { recording, thumb, full, note, box });
    this.sheets = new Map();
    this.waiting = [];  // sheets that are to be asked for: number and image, what was wanted last at the end
    this.asked = 0;
    this.coming = new Set();  // places whose pictures are on their way
    this.gone = new Set(recording?.gone ?? []);
    this.ready = new Map();  // place -> Image that is decoded
    thumb.width = WIDE * 2;
    thumb.height = HIGH * 2;
    this.shown = undefined;
  }

  // Show the snapshot at a place of the recording.
  show(i, gap) {
    const r = this.recording;
    if (!r) return this.say("The recording is not there: the log is shown alone.");
    const place = r.picture[i], state = r.states[r.state[i]];
    if (gap) return this.say(`Nothing was recorded here: ${gap[2]}.`);
    if (place === null) return this.say(state === "deleted" ? WHY.deleted : WHY.none);
    if (this.gone.has(place)) return this.say(WHY.gone);
    this.badge(state === "redacted" ? "blurred in review" : r.held[i] ? "held: nothing changed" : "");
    if (place === this.shown) return;
    this.shown = place;
    const ready = this.ready.get(place);
    if (ready) return this.place(ready, false);
    // Until the picture is here its thumbnail is shown; until that is here, what was shown before, dimmed.
    if (this.small(this.thumb, place, () => this.wanted(place))) this.fresh();
    else this.box.classList.add("tl-stale");
    this.timer ||= setTimeout(() => { this.timer = 0; this.load(this.shown); }, 60);
  }

  wanted(place) {
    if (this.shown !== place || this.ready.has(place)) return false;
    this.fresh();
    return true;
  }

  fresh() {
    this.full.hidden = true;
    this.box.classList.remove("tl-stale");
  }

  say(why) {
    this.shown = undefined;
    this.fresh();
    this.note.hidden = false;
    this.note.classList.remove("badge-like");
    put(this.note, why);
  }

  badge(said) {
    this.note.hidden = !said;
    this.note.classList.toggle("badge-like", Boolean(said));
    put(this.note, said);
  }

  place(image, late) {
    this.full.src = image.src;
    this.full.hidden = false;
    this.box.classList.toggle("tl-stale", late);
  }

  load(place, ahead = false) {
    if (place === undefined || this.ready.has(place) || this.coming.has(place)) return;
    if (this.coming.size >= PICTURES_AT_ONCE - ahead) return;  // as soon as one is here, what is shown then is asked for
    this.coming.add(place);
    const image = new Image();
    image.fetchPriority = ahead ? "low" : "high";
    image.src = `/picture/${this.recording.pictures[place]}`;
    image.decode().then(() => {
      this.ready.set(place, image);
      if (this.ready.size > 24) this.ready.delete(this.ready.keys().next().value);
      if (this.shown === place) this.place(image, false);
      else if (this.shown !== undefined && this.box.classList.contains("tl-stale")) this.place(image, true);  // at least near
    }, async () => {
      const why = await answers(image.src) ? WHY.gone : WHY.away;
      if (this.shown === place) this.say(why);
    }).finally(() => {
      this.coming.delete(place);
      this.load(this.shown);
    });
  }

  // Have the pictures around a snapshot at hand.
  ahead(i, step = 1) {
    for (const n of [i + step, i + 2 * step, i - step]) {
      const place = this.recording?.picture[n];
      if (place !== null && place !== undefined && !this.gone.has(place)) this.load(place, true);
    }
  }

  // Draw the thumbnail of a picture, and whether it could be; else it is drawn once its sheet comes, if it is still
  // wanted.
  small(canvas, place, wanted = () => true) {
    const g = canvas.getContext("2d"), n = Math.floor(place / A_SHEET), k = place % A_SHEET;
    const draw = (sheet) => g.drawImage(sheet, (k % ACROSS) * WIDE, Math.floor(k / ACROSS) * HIGH, WIDE, HIGH, 0, 0, canvas.width, canvas.height);
    const sheet = this.sheet(n);
    if (sheet.complete && sheet.naturalWidth) { draw(sheet); return true; }
    sheet.addEventListener("load", () => { if (wanted() !== false) draw(sheet); }, { once: true });
    return false;
  }

  sheet(n) {
    if (!this.sheets.has(n) && this.recording.sheets[n] !== undefined) {
      const image = new Image();
      image.fetchPriority = "low";
      for (const end of ["load", "error"]) image.addEventListener(end, () => { this.asked--; this.fetch(); }, { once: true });
      this.sheets.set(n, image);
      this.waiting.push([n, image]);
      idle(() => this.fetch(), { timeout: 100 });  // making it takes a processor, and what is being drawn now comes first
    } else {
      const i = this.waiting.findIndex(([other]) => other === n);
      if (i >= 0) this.waiting.push(...this.waiting.splice(i, 1));
    }
    return this.sheets.get(n);
  }

  // Ask for what was wanted last, few at a time.
  fetch() {
    while (this.asked < SHEETS_AT_ONCE && this.waiting.length) {
      const [n, image] = this.waiting.pop();
      this.asked++;
      image.src = `/sheet/${this.recording.sheets[n]}`;
    }
  }
}
