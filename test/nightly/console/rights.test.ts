import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { axeFindings } from "../../support/console/axe-findings.ts";
import type { ConsoleWindow } from "../../support/console/console-browser.ts";
import { openBrowserIssuer, type BrowserIssuer } from "../../support/console/browser-issuer.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { expectNoFaults } from "../../support/console/page-faults.ts";
import { waitForWords } from "../../support/console/page-words.ts";
import { seedWeir } from "../../support/console/seed-weir.ts";
import { eventually } from "../../support/eventually.ts";

const seeing = ["Function:List", "Function:Get", "System:Info"];
const rulesFor = (issuer: string): string =>
  `
kind: JwtIssuer
metadata: { name: idp }
spec: { iss: "${issuer}", aud: [weir], login: { clientId: weir, scopes: [openid] } }
---
kind: Policy
metadata: { name: see }
spec: { statement: [{ sid: see, effect: Allow, action: ${JSON.stringify(seeing)}, resource: ["*"] }] }
---
kind: Role
metadata: { name: readers }
spec: { policy: [see], principal: { "jwt:sub": [alice] } }
`.replaceAll(/^kind/gm, "apiVersion: iam.service.com/v1\nkind");

const options = { flags: ["--edition=enterprise"], prepare: seedWeir, isSignedIn: false };

/** The console of somebody who signed in at an issuer, and may look at functions only. */
describeConsole("who may not do everything", options, (opened) => {
  let issuer: BrowserIssuer;
  let window: ConsoleWindow;
  let page: Page;
  beforeAll(async () => {
    const { browser, weir } = opened();
    issuer = await openBrowserIssuer("alice", `${weir.origin}/auth/callback`);
    await writeFile(join(weir.weir.data, "iam", "rules.yaml"), rulesFor(issuer.issuer.url), { mode: 0o600 });
    window = await browser.open({ origin: weir.origin, others: issuer.origins });
    ({ page } = window);
    const offered = async (): Promise<unknown> => (await window.context.request.get("/auth/issuers")).json();
    await eventually(async () => JSON.stringify(await offered()).includes("idp"), { what: "the rules to be read" });
    await page.goto("/ui/");
    await page.getByRole("link", { name: "Sign in with idp" }).click();
    await page.getByRole("link", { name: "Go on as alice" }).click();
    await page.getByRole("heading", { level: 1, name: "Functions" }).waitFor();
  });
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await issuer?.[Symbol.asyncDispose]();
  });

  test("is signed in by their own link only, and the address keeps nothing of it", async () => {
    expect(page.url()).toBe(`${opened().weir.origin}/ui/`);
    // A tab that went to no issuer takes no session.
    const other = await window.context.newPage();
    await other.goto("/ui/#session=foreign");
    await other.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(other.url()).toBe(`${opened().weir.origin}/ui/`);
    expect(await other.evaluate("JSON.stringify(sessionStorage)")).not.toContain("foreign");
    await other.close();
  });

  test("is offered what the rules give, and nothing else", async () => {
    await waitForWords(page, "hello");
    const pages = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    expect(await pages.allTextContents()).toEqual(["Functions", "System"]);
    expect(await page.getByRole("link", { name: "New function" }).count()).toBe(0);
    await page.getByRole("link", { name: /^hello/ }).click();
    await waitForWords(page, "Conditions");
    expect(await page.getByRole("button", { name: /^(Scale|Delete)$/ }).count()).toBe(0);
    expect(await page.getByRole("navigation", { name: "Pages of hello" }).getByRole("link").allTextContents()).toEqual([
      "Status",
      "Try",
      "Scaling",
    ]);
    expect(await axeFindings(page)).toEqual([]);
  });

  test.each([
    ["/ui/secrets", "Secret:List"],
    ["/ui/calls", "Call:List"],
    ["/ui/queues", "Queue:List"],
    ["/ui/audit", "System:Audit"],
  ])("is told at %s that %s is missing, and who one is", async (path, action) => {
    await page.goto(path);
    const alert = page.getByRole("alert").first();
    await alert.getByText(new RegExp(`allows ${action}`)).waitFor();
    expect(await alert.textContent()).toMatch(/^Cannot .*You are signed in as fed:alice\.$/s);
    expect(await axeFindings(page)).toEqual([]);
  });

  test("is told the same when a change is refused", async () => {
    await page.goto("/ui/new");
    await page.getByRole("button", { name: "Capital letters" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("mine");
    await page.getByRole("button", { name: "Deploy" }).click();
    await page
      .getByRole("alert")
      .getByText(/allows Function:Create/)
      .waitFor();
    await waitForWords(page, "You are signed in as fed:alice.");
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("mine");
  });

  test("broke no rule on the way to the issuer and back", () => {
    expectNoFaults(window.faults);
  });
});
