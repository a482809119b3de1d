import { beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import type { ConsoleWeir } from "../../support/console/console-weir.ts";
import { Keyboard } from "../../support/console/keyboard.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { waitForWords } from "../../support/console/page-words.ts";

/** What a new user does, from the printed address on, without a mouse; each test goes on where the one before ended. */
describeConsole("by the keyboard alone", { flags: ["--edition=pro"], isSignedIn: false }, (opened) => {
  let weir: ConsoleWeir;
  let page: Page;
  let keys: Keyboard;
  beforeAll(() => {
    ({ weir, page } = opened());
    keys = new Keyboard(page);
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" });
  const link = (name: string | RegExp) => page.getByRole("link", { name, exact: typeof name === "string" });
  const heading = (name: string | RegExp) => page.getByRole("heading", { level: 1, name });
  const inDialog = (name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
  const shows = (text: string | RegExp) => waitForWords(page, text);

  /** Deploys a sample on the page of a new function. */
  async function deploySample(title: string, name: string): Promise<void> {
    await keys.activate(link("New function"));
    await heading("New function").waitFor();
    await keys.activate(button(title));
    await keys.activate(button("Deploy"));
    await heading(name).waitFor();
  }

  /** Queues a call on the page of a function, and opens the call. */
  async function queueCall(): Promise<string> {
    await keys.activate(link("Try"));
    await keys.tabTo(page.getByLabel("Call it"));
    await keys.press("ArrowDown");
    await keys.activate(button("Queue the call"));
    await keys.activate(link("Watch it run"));
    await heading(/^Call /).waitFor();
    return new URL(page.url()).pathname.split("/").at(-1) ?? "";
  }

  test("signs in: the field for the password has the focus", async () => {
    await page.goto("/ui/");
    await page.getByLabel("Password").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement?.type")).toBe("password");
    await page.keyboard.type(weir.weir.password);
    await keys.press("Enter");
    await heading("Functions").waitFor();
  });

  test("deploys the sample and calls it", async () => {
    await deploySample("Capital letters", "hello");
    await keys.activate(link("Try"));
    await keys.activate(button("Call"));
    await shows("HELLO");
  });

  test("calls one that fails, and finds what it logged by the id of the call", async () => {
    await keys.press("g", "f");
    await heading("Functions").waitFor();
    await deploySample("One that fails", "fails");
    await keys.activate(link("Try"));
    await keys.activate(button("Call"));
    await shows(/^500$/);
    await keys.activate(link("Its log lines"));
    await expect.poll(() => page.url()).toMatch(/\/logs\?call=[0-9a-f-]{36}/);
    await shows("there is no such order");
  });

  test("queues a call that fails, watches its retries, and sees why it failed", async () => {
    // Long enough for a busy machine to open the page before the last run.
    await weir.deploy({
      service: "fails",
      envProcess: "sh -c 'echo \"there is no such order\" >&2; exit 1'",
      annotations: {
        "com.service.retry.attempts": "2",
        "com.service.retry.codes": "500",
        "com.service.retry.min_wait": "5s",
        "com.service.retry.max_wait": "5s",
      },
    });
    await keys.press("g", "f");
    await keys.activate(link(/^fails/));
    await heading("fails").waitFor();
    await queueCall();
    await shows(/Retry \d of 2 comes/);
    await shows(/No retry was left; the last run ended with status 500, after 3 runs/);
    await shows("there is no such order");
  });

  test("redrives the call: it runs and fails anew", async () => {
    await keys.activate(button("Redrive"));
    await shows("Redriven");
    await shows(/No retry was left; .* after 6 runs/);
    await keys.activate(button("Put the note away"));
  });

  test("replays the call as another one", async () => {
    const before = page.url();
    await keys.activate(button("Replay"));
    await keys.activate(inDialog("Replay 1 call"));
    await keys.activate(link(/^Replay call/));
    await expect.poll(() => page.url()).not.toBe(before);
    await shows("Replay of");
  });

  test("cancels a call that waits", async () => {
    await weir.deploy({
      service: "patient",
      envProcess: "sh -c 'exit 1'",
      annotations: {
        "com.service.retry.codes": "500",
        "com.service.retry.min_wait": "10m",
        "com.service.retry.max_wait": "10m",
      },
    });
    await keys.press("g", "f");
    await keys.activate(link(/^patient/));
    await heading("patient").waitFor();
    await queueCall();
    await shows(/Retry 1 of \d+ comes in/);
    await keys.activate(button("Cancel"));
    await keys.activate(inDialog("Cancel 1 call"));
    await shows(/It was cancelled in run 1/);
    await shows(/Cannot cancel call ".*": it is cancelled/);
  });

  test("stores a secret, which is never shown", async () => {
    await keys.activate(link("Secrets"));
    await heading("Secrets").waitFor();
    await keys.activate(button("New secret"));
    await keys.write(page.getByRole("textbox", { name: "Name" }).last(), "api-key");
    await keys.write(page.getByLabel("Value", { exact: true }), "a-canary-value");
    await keys.press("Enter");
    await shows("Sent: Store secret api-key");
    await page.getByRole("table", { name: "Secrets" }).getByText("api-key").waitFor();
    expect(await page.content()).not.toContain("a-canary-value");
  });

  test("scales to zero, and the next call wakes the function", async () => {
    await keys.press("g", "f");
    await keys.activate(link(/^hello/));
    await heading("hello").waitFor();
    await keys.activate(button("Scale"));
    await keys.write(page.getByLabel("Replicas"), "0");
    await keys.press("Enter");
    await shows(/zero/i);
    await expect
      .poll(async () => {
        const response = await weir.api("GET", "/system/function/hello");
        return ((await response.json()) as { readonly availableReplicas: number }).availableReplicas;
      })
      .toBe(0);
    await keys.activate(link("Try"));
    await keys.activate(button("Call"));
    await shows("HELLO");
  });

  test("lists the shortcuts, and closes the list", async () => {
    await keys.tabTo(link("Status"));
    await keys.press("?");
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    await keys.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe("Status");
  });

  test("signs out", async () => {
    await keys.activate(button("Sign out"));
    await page.getByLabel("Password").waitFor();
    await page.goto("/ui/calls");
    await page.getByLabel("Password").waitFor();
  });
});
