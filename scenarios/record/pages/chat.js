// A chat page: what is typed becomes a bubble; what others write comes from the server and counts in the title.
const list = document.getElementById("list"), box = document.getElementById("say"), title = document.title;
let n = 0, unread = 0;
const bubble = (text, who) => {
  const one = document.createElement("div");
  one.className = "bubble " + who;
  one.textContent = text;
  list.append(one);
  window.scrollTo(0, document.body.scrollHeight);
};
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && box.value) { bubble(box.value, "me"); box.value = ""; }
});
setInterval(async () => {
  const all = await (await fetch("/messages")).json();
  for (; n < all.length; n++) { bubble(all[n], "them"); unread += document.hasFocus() ? 0 : 1; }
  if (document.hasFocus()) unread = 0;
  document.title = unread ? `(${unread}) ${title}` : title;
}, 700);
