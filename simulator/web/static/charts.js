// Charts: uPlot with this house's colours, text and keys. uPlot draws on canvas; beside each chart goes a sentence or a
// table that says the same (`describe`), for those who do not see it.
import uPlot from "/static/vendor/uPlot.esm.js";
import { colour } from "/static/base.js";

export { uPlot };

// Colours of series in order, and their dashes: no series is told by colour alone.
export const series = () => ["--good", "--bad", "--need", "--late", "--busy"].map(colour);
export const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 4]];

// Make a chart in a node; it follows the node's width and the theme. `options` are uPlot's without width.
export function chart(node, options, data, { describe = "" } = {}) {
  let plot = null;
  const make = () => {
    plot?.destroy();
    plot = new uPlot({ width: Math.max(120, node.clientWidth), height: 200, cursor: { drag: { x: false, y: false } }, ...options(), }, data, node);
  };
  node.classList.add("chart");
  if (describe) { node.setAttribute("role", "img"); node.setAttribute("aria-label", describe); }
  make();
  let asked = 0;
  const sized = new ResizeObserver(() => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => plot && plot.width !== node.clientWidth && plot.setSize({ width: Math.max(120, node.clientWidth), height: plot.height }));
  });
  sized.observe(node);
  addEventListener("themechange", make);
  return {
    get plot() { return plot; },
    set(next) { data = next; plot.setData(next); },
    end() { sized.disconnect(); removeEventListener("themechange", make); plot.destroy(); },
  };
}

// An axis in the page's colours.
export const axis = (more = {}) => ({ stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui, sans-serif", ...more });
