import { ask, el, failed, keyTable, page, put } from "/static/base.js";

page({ title: "About" });
put(document.getElementById("keys"), keyTable());
const shown = document.getElementById("shown");
try {
  const { found, roots } = await ask("/api/about");
  put(shown,
    el("p", {}, `${found.run} runs, ${found.sweep} sweeps and ${found.session} sessions under:`),
    el("ul", {}, ...roots.map((root) => el("li", {}, el("code", {}, root)))));
} catch (error) {
  failed(shown, error);
}
