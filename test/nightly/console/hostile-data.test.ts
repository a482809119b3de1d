import { beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import type { ConsoleWeir } from "../../support/console/console-weir.ts";
import { describeConsole } from "../../support/console/opened-console.ts";

/** What a page would show or do if it took a text for more than that. */
const markup = `<img src=x onerror="document.title='hacked'"><script>document.title="hacked"</script><a href="javascript:alert(1)">x</a>`;
const bidi = "pay\u202eexe.txt";
const coloured = "\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u001b[2J";
const longLine = "x".repeat(1_048_576);

/** Logs what it gets as it is, and replies with it. */
const echo = `require("node:http").createServer((q, r) => {
  const chunks = [];
  q.on("data", (chunk) => chunks.push(chunk));
  q.on("end", () => {
    const body = Buffer.concat(chunks);
    process.stderr.write(body + "\\n");
    r.setHeader("content-type", "text/html");
    r.setHeader("x-hostile", q.headers["x-hostile"] ?? "none");
    if (q.url.startsWith("/fail")) r.statusCode = 500;
    r.end(body);
  });
}).listen(process.env.PORT)`;

const options = {
  flags: ["--edition=pro"],
  prepare: ({ deploy }: ConsoleWeir) =>
    deploy({
      service: "echo",
      envProcess: `node -e '${echo}'`,
      envVars: { mode: "http", MARKUP: markup, BIDI: bidi },
      annotations: { "com.service.history.bodies": "1h", hostile: `${markup} ${bidi}` },
    }),
};

describeConsole("what others write is text", options, (opened) => {
  let weir: ConsoleWeir;
  let page: Page;
  beforeAll(() => {
    ({ weir, page } = opened());
  });

  /** Nothing of it became an element or ran. */
  async function expectText(): Promise<void> {
    expect(await page.title()).not.toContain("hacked");
    const made = "main :is(img, script, iframe, a[href^='javascript'], style)";
    expect(await page.locator(made).count()).toBe(0);
  }

  async function called(body: string, tail = ""): Promise<string> {
    const headers = { "x-hostile": `${markup} caf\u00e9`, "content-type": "text/html" };
    const id = await weir.calls.accepted("echo", { body, headers, tail });
    await weir.calls.ended(id);
    return id;
  }

  test("lines, headers and bodies of a call", async () => {
    const id = await called(`${markup}\n${bidi}\n${coloured}`);
    await page.goto(`/ui/calls/${id}`);
    const lines = page.getByRole("region", { name: "Lines" });
    await lines.getByText("pay\\u202eexe.txt").waitFor();
    expect(await lines.textContent()).toContain(markup);
    expect(await lines.textContent()).not.toContain("\u202e");
    // Its colour is a class, and what would change a terminal is not followed.
    expect(await lines.locator(".ansi-red").first().textContent()).toBe("red");
    expect(await lines.textContent()).not.toContain("\u001b");
    await page.getByRole("button", { name: "Show the request" }).click();
    await page.getByText("x-hostile").first().waitFor();
    await page.getByRole("button", { name: "Show the result" }).click();
    const bodies = page.getByLabel("Body", { exact: true });
    await expect.poll(() => bodies.count()).toBe(2);
    for (const text of await bodies.allTextContents()) {
      expect(text).toContain(markup);
      expect(text).toContain("pay\\u202eexe.txt");
      expect(text).toContain("\\u001b");
    }
    await expectText();
  });

  test("a line of a megabyte is cut, and the page goes on", async () => {
    const id = await called(longLine);
    await page.goto(`/ui/calls/${id}`);
    await page
      .getByRole("region", { name: "Lines" })
      .getByText(/KiB in all|MiB in all/)
      .first()
      .waitFor();
    const shown = (await page.locator("main").textContent())?.length ?? 0;
    expect(shown).toBeLessThan(200_000);
  });

  test("what a function was deployed with", async () => {
    for (const path of ["/ui/f/functions/echo", "/ui/f/functions/echo/edit"]) {
      await page.goto(path);
      await page.getByText("hostile").or(page.locator("input[value=hostile]")).first().waitFor();
      await expectText();
    }
  });

  test("its log", async () => {
    await called(markup);
    await page.goto("/ui/f/functions/echo/logs");
    await page.getByText("onerror").first().waitFor();
    await expectText();
  });

  test("what a tried call says", async () => {
    await page.goto("/ui/f/functions/echo/try");
    await page.getByRole("textbox", { name: "Body" }).fill(`${markup}${bidi}`);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("pay\\u202eexe.txt").waitFor();
    await expectText();
  });

  test("the reason why a function does not start", async () => {
    const failing = `node -e 'console.error(process.env.MARKUP); process.exit(3)'`;
    await weir.api("PUT", "/system/functions", {
      service: "broken",
      image: "none",
      envProcess: failing,
      envVars: { mode: "http", MARKUP: `${markup} ${bidi}` },
    });
    await page.goto("/ui/f/functions/broken");
    await page.getByText("onerror").first().waitFor();
    await expectText();
  });

  test("what is looked for", async () => {
    await page.goto(`/ui/calls?function=${encodeURIComponent(markup)}&reason=${encodeURIComponent(bidi)}`);
    await page
      .getByText(/Cannot read function/)
      .first()
      .waitFor();
    await expectText();
    // The gateway has no path with a percent sign, but links within the page lead to its own.
    const path = `/ui/calls/${encodeURIComponent(bidi + markup)}`;
    await page.goto(path);
    await page.getByText("it does not exist").waitFor();
    await expectText();
    await page.goto("/ui/calls");
    await page.getByRole("heading", { level: 1, name: "Calls" }).waitFor();
    await page.evaluate(
      `history.pushState({}, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate"))`,
    );
    await page.getByRole("heading", { level: 1, name: "Call pay" }).waitFor();
    await page.getByRole("alert").first().waitFor();
    const main = page.locator("main");
    expect(await main.textContent()).toContain("onerror");
    expect(await main.textContent()).not.toContain("\u202e");
    expect(await page.title()).not.toContain("\u202e");
    await expectText();
  });
});
