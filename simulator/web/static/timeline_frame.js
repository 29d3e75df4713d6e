// The big frame: a thumbnail at once, the picture itself as soon as the cursor rests on it; and why there is none.
import { put } from "/static/base.js";

const ACROSS = 10, A_SHEET = 100, WIDE = 160, HIGH = 90;
const WHY = { deleted: "This snapshot was deleted from the recording.", gone: "The file of this picture is not there.", none: "No picture was kept of this snapshot." };

export class Frame {
  constructor(recording, { thumb, full, note, box }) {
    Object.assign(this, { recording, thumb, full, note, box });
    this.sheets = new Map();
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
    clearTimeout(this.timer);
    const ready = this.ready.get(place);
    if (ready) return this.place(ready);
    this.full.hidden = true;
    this.small(this.thumb, place, () => this.shown === place);
    this.timer = setTimeout(() => this.load(place), 60);
  }

  say(why) {
    this.shown = undefined;
    clearTimeout(this.timer);
    this.full.hidden = true;
    this.note.hidden = false;
    this.note.classList.remove("badge-like");
    put(this.note, why);
  }

  badge(said) {
    this.note.hidden = !said;
    this.note.classList.toggle("badge-like", Boolean(said));
    put(this.note, said);
  }

  place(image) {
    this.full.src = image.src;
    this.full.hidden = false;
  }

  load(place) {
    if (this.ready.has(place) || place === undefined) return;
    const image = new Image();
    image.src = `/picture/${this.recording.pictures[place]}`;
    image.decode().then(() => {
      this.ready.set(place, image);
      if (this.ready.size > 24) this.ready.delete(this.ready.keys().next().value);
      if (this.shown === place) this.place(image);
    }, () => { if (this.shown === place) this.say(WHY.gone); });
  }

  // Have the pictures around a snapshot at hand.
  ahead(i, step = 1) {
    for (const n of [i + step, i + 2 * step, i - step]) {
      const place = this.recording?.picture[n];
      if (place !== null && place !== undefined && !this.gone.has(place)) this.load(place);
    }
  }

  // Draw the thumbnail of a picture; a sheet that is not here yet is drawn when it comes, if it is still wanted.
  small(canvas, place, wanted = () => true) {
    const g = canvas.getContext("2d"), n = Math.floor(place / A_SHEET), k = place % A_SHEET;
    const draw = (sheet) => g.drawImage(sheet, (k % ACROSS) * WIDE, Math.floor(k / ACROSS) * HIGH, WIDE, HIGH, 0, 0, canvas.width, canvas.height);
    const sheet = this.sheet(n);
    if (sheet.complete && sheet.naturalWidth) return draw(sheet);
    sheet.addEventListener("load", () => wanted() && draw(sheet), { once: true });
  }

  sheet(n) {
    if (!this.sheets.has(n) && this.recording.sheets[n] !== undefined) {
      const image = new Image();
      image.src = `/sheet/${this.recording.sheets[n]}`;
      this.sheets.set(n, image);
    }
    return this.sheets.get(n);
  }
}
