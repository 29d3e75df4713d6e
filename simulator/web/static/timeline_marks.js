// How what happened is marked: shapes and colours, the same on the lanes, in lists and in the legend.
import { colour, textScale } from "/static/base.js";

// How each class is drawn, with the shapes of the report and of the terminal's line. Shapes differ, so that no colour is
// needed to tell them apart.
export const MARKS = {
  hit: { shape: "circle", fill: true, colour: "--good", says: "on time" },
  redundant: { shape: "circle", fill: false, colour: "--good", says: "redundant: right, and already served" },
  late: { shape: "diamond", fill: false, colour: "--late", says: "late: right when captured, closed when it came" },
  early: { shape: "left", fill: false, colour: "--late", says: "early: right, before it opened" },
  wrong: { shape: "square", fill: true, colour: "--bad", says: "wrong content, in an open window" },
  false_alarm: { shape: "up", fill: true, colour: "--bad", says: "false alarm" },
  held_back: { shape: "dot", fill: true, colour: "--edge", says: "held back by the gate" },
  offer: { shape: "right", fill: true, colour: "--ink", says: "offer, not classified" },
  miss: { shape: "cross", fill: false, colour: "--bad", says: "need missed, at its deadline" },
  true_positive: { shape: "circle", fill: true, colour: "--good", says: "moment: help offered, rightly" },
  true_negative: { shape: "circle", fill: false, colour: "--good", says: "moment: silent, rightly" },
  false_positive: { shape: "up", fill: true, colour: "--bad", says: "moment: help offered, none needed" },
  false_negative: { shape: "cross", fill: false, colour: "--bad", says: "moment: help needed, none offered" },
  matched: { shape: "circle", fill: true, colour: "--good", says: "intent that matched a true one" },
  extra: { shape: "up", fill: true, colour: "--bad", says: "intent that matched none" },
  merged: { shape: "dot", fill: true, colour: "--edge", says: "intent, counted with another" },
  failed: { shape: "bang", fill: true, colour: "--bad", says: "decision that failed, or could not be read" },
  waits: { shape: "dot", fill: true, colour: "--edge", says: "need that is open, to come, or could not be served" },
  accepted: { shape: "tick", fill: false, colour: "--good", says: "answered: useful" },
  rejected: { shape: "cross", fill: false, colour: "--bad", says: "answered: wrong" },
  ignored: { shape: "bar", fill: false, colour: "--edge", says: "answered: not now" },
  not_asked: { shape: "dot", fill: true, colour: "--edge", says: "moment: not asked" },
};

const STAGES = { wait: "--busy", deciding: "--good", rest: "--good", retrieve: "--need", embed: "--need", ocr: "--late", build: "--edge", model: "--good", parse: "--late" };
export const stageColour = (name) => STAGES[name] ?? "--edge";

export function mark(g, name, x, y, r, palette) {
  const kind = MARKS[name] ?? MARKS.offer;
  g.beginPath();
  switch (kind.shape) {
    case "up": g.moveTo(x, y - r); g.lineTo(x + r, y + r * 0.8); g.lineTo(x - r, y + r * 0.8); g.closePath(); break;
    case "right": g.moveTo(x + r, y); g.lineTo(x - r * 0.8, y - r); g.lineTo(x - r * 0.8, y + r); g.closePath(); break;
    case "left": g.moveTo(x - r, y); g.lineTo(x + r * 0.8, y - r); g.lineTo(x + r * 0.8, y + r); g.closePath(); break;
    case "diamond": g.moveTo(x, y - r * 1.15); g.lineTo(x + r * 1.15, y); g.lineTo(x, y + r * 1.15); g.lineTo(x - r * 1.15, y); g.closePath(); break;
    case "square": g.rect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6); break;
    case "cross": g.moveTo(x - r * 0.8, y - r * 0.8); g.lineTo(x + r * 0.8, y + r * 0.8); g.moveTo(x + r * 0.8, y - r * 0.8); g.lineTo(x - r * 0.8, y + r * 0.8); break;
    case "tick": g.moveTo(x - r * 0.9, y); g.lineTo(x - r * 0.2, y + r * 0.7); g.lineTo(x + r * 0.9, y - r * 0.8); break;
    case "bar": g.moveTo(x - r * 0.8, y); g.lineTo(x + r * 0.8, y); break;
    case "bang": g.rect(x - r * 0.2, y - r, r * 0.4, r * 1.2); g.rect(x - r * 0.2, y + r * 0.55, r * 0.4, r * 0.4); break;
    case "dot": g.arc(x, y, Math.max(1.5, r * 0.35), 0, 7); break;
    default: g.arc(x, y, r * 0.8, 0, 7);
  }
  g.lineWidth = 2;
  g.strokeStyle = g.fillStyle = palette(kind.colour);
  if (kind.fill) { g.fill(); g.lineWidth = 1; g.strokeStyle = palette("--ground"); }
  g.stroke();
}

// A small picture for the legend, as large as the text beside it: of a mark, or of what `draw(g, side)` draws.
export function swatch(name, draw = (g, side) => mark(g, name, side / 2, side / 2, side / 3, colour)) {
  const canvas = document.createElement("canvas");
  const scale = (devicePixelRatio || 1) * textScale();
  canvas.width = canvas.height = Math.round(18 * scale);
  canvas.style.width = canvas.style.height = "1.125rem";
  canvas.setAttribute("aria-hidden", "true");
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  draw(g, 18);
  return canvas;
}

// How a need is marked, by what came of it.
export const needMark = (need) => (need.error ? "miss" : need.class === "served" ? "hit" : "waits");
