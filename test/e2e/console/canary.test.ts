import { beforeAll, expect, test } from "vitest";
import type { Page, Request } from "playwright-core";

import type { ConsoleWeir } from "../../support/console/console-weir.ts";
import { describeConsole } from "../../support/console/opened-console.ts";

const secret = "canary-of-a-secret";
const file = "canary-of-a-file";
const body = "canary-of-a-body";
const token = "canary-of-a-token";

/** All that the page holds: elements, what stands in fields, storage, its address. */
const held = `JSON.stringify([
  document.documentElement.outerHTML,
  [...document.querySelectorAll("input, textarea")].map(({ value }) => value),
  { ...localStorage }, { ...sessionStorage },
  document.cookie, location.href, history.state, document.title,
])`;

const options = {
  flags: ["--edition=enterprise"],
  prepare: ({ deploy }: ConsoleWeir) => deploy({ service: "quiet", envProcess: "true" }),
  isSignedIn: false,
};

describeConsole("what is secret", options, (opened) => {
  let weir: ConsoleWeir;
  let page: Page;
  const requests: Request[] = [];
  const said: string[] = [];

  beforeAll(() => {
    ({ weir, page } = opened());
    page.on("request", (request) => requests.push(request));
    page.on("console", (message) => said.push(message.text()));
  });

  /** Requests in whose address, headers or body a text stands, plain or as base64. */
  function sentIn(text: string): readonly string[] {
    const forms = [text, Buffer.from(text).toString("base64"), encodeURIComponent(text)];
    return requests
      .filter((request) => {
        const all = [request.url(), JSON.stringify(request.headers()), request.postData() ?? ""].join("\n");
        return forms.some((form) => all.includes(form));
      })
      .map((request) => `${request.method()} ${new URL(request.url()).pathname}`);
  }

  /** A text that was sent is in that request, and nowhere else. */
  async function expectGone(text: string, sent: readonly string[]): Promise<void> {
    expect(sentIn(text)).toEqual(sent);
    const everything = String(await page.evaluate(held)) + said.join("\n");
    expect(everything).not.toContain(text);
    expect(everything).not.toContain(Buffer.from(text).toString("base64"));
  }

  test("the password", async () => {
    await page.goto("/ui/secrets");
    await page.getByLabel("Password").fill(weir.weir.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("#content h1").waitFor();
    await expectGone(weir.weir.password, ["POST /auth/session"]);
  });

  test("a secret that is written", async () => {
    await page.getByRole("button", { name: "New secret" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("one");
    await dialog.getByLabel("Value", { exact: true }).fill(secret);
    await dialog.getByRole("button", { name: "Store secret" }).click();
    await dialog.waitFor({ state: "detached" });
    await expectGone(secret, ["POST /system/secrets"]);
  });

  test("a secret that is refused leaves the page, too", async () => {
    await page.getByRole("button", { name: "New secret" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("one");
    await dialog.getByLabel("Value", { exact: true }).fill(secret);
    await dialog.getByRole("button", { name: "Store secret" }).click();
    await dialog.getByText(/exist/).waitFor();
    await expectGone(secret, ["POST /system/secrets", "POST /system/secrets"]);
    await dialog.getByRole("button", { name: "Close" }).last().click();
  });

  test("a secret of a file", async () => {
    await page.getByRole("button", { name: "Replace one" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("The value is").selectOption("file");
    await dialog
      .getByLabel("File")
      .setInputFiles({ name: "key.txt", mimeType: "text/plain", buffer: Buffer.from(file) });
    await dialog.getByRole("button", { name: "Replace value" }).click();
    await dialog.waitFor({ state: "detached" });
    await expectGone(file, ["PUT /system/secrets"]);
  });

  test("a token that is simulated with", async () => {
    await page.goto("/ui/access");
    await page.getByLabel("Who", { exact: true }).selectOption("token");
    await page.getByLabel("Token", { exact: true }).fill(token);
    await page.getByRole("button", { name: "Decide" }).click();
    await page.getByText(/the token is no valid one/).waitFor();
    await expectGone(token, ["POST /system/iam/simulate"]);
  });

  test("the body of a tried call is in that request, in its field, and nowhere else", async () => {
    await page.goto("/ui/f/functions/quiet/try");
    await page.getByRole("textbox", { name: "Body" }).fill(body);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("The body is empty").waitFor();
    expect(sentIn(body)).toEqual(["POST /ui/try/quiet.functions/"]);
    await page.goto("/ui/");
    await page.locator("#content h1").waitFor();
    await expectGone(body, ["POST /ui/try/quiet.functions/"]);
  });
});
