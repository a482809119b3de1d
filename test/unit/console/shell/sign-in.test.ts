import { h } from "preact";
import { afterEach, expect, test } from "vitest";

import { SessionHalf } from "../../../../runtime/console/data/session/session-half.ts";
import { SignInPage } from "../../../../runtime/console/shell/sign-in.tsx";
import { memoryStorage } from "../memory-storage.ts";
import { renderPart, type RenderedPart, type Replies } from "../render-part.tsx";

let rendered: RenderedPart | undefined;
afterEach(() => {
  rendered?.close();
  rendered = undefined;
});

function signInPage(issuers: Response): RenderedPart["body"] {
  const replies: Replies = (method, path) =>
    method === "GET" && path === "/auth/issuers" ? issuers : new Response("not asked for", { status: 500 });
  rendered = renderPart(h(SignInPage, { over: false }), replies);
  return rendered.body;
}

const linksIn = (body: RenderedPart["body"]) =>
  body
    .all(({ localName }) => localName === "a")
    .map(({ text, attributes }) => [text, attributes.get("href"), attributes.get("title"), attributes.has("target")]);

test("each issuer that people may sign in at has a button that leads there and back to this page", async () => {
  const body = signInPage(
    Response.json([
      { name: "staff", issuer: "https://id.example.com" },
      { name: "un\u202eseen", issuer: "https://other.example.com" },
    ]),
  );

  await expect
    .poll(() => linksIn(body))
    .toEqual([
      ["Sign in with staff", "/auth/login?issuer=staff&to=%2Fui%2F", "https://id.example.com", false],
      [
        "Sign in with un\\u202eseen",
        "/auth/login?issuer=un%E2%80%AEseen&to=%2Fui%2F",
        "https://other.example.com",
        false,
      ],
    ]);
  expect(body.one("button", "Sign in").attributes.get("type")).toBe("submit");
});

test("without issuers there is the password alone", async () => {
  const reply = Response.json([]);
  const body = signInPage(reply);

  await expect.poll(() => reply.bodyUsed).toBe(true);
  expect(linksIn(body)).toEqual([]);
  expect(body.text).not.toContain("Or where you have an account");
});

test("a sign-in at an issuer that did not begin in this tab is told why it does not count", () => {
  const half = new SessionHalf(memoryStorage());
  half.takeFrom({ hash: "#session=x", pathname: "/ui/", search: "" }, { replaceState: () => {} });
  rendered = renderPart(h(SignInPage, { over: false }), () => Response.json([]), 0, undefined, half);
  expect(rendered.body.text).toContain("That sign-in did not begin in this tab, so it does not count here.");
});

test("why the issuers are not known is said, and the password works on", async () => {
  const body = signInPage(new Response("", { status: 500 }));

  await expect.poll(() => body.text).toContain("Cannot find out where to sign in: the reply has status 500");
  expect(body.one("button", "Sign in").attributes.get("aria-disabled")).toBe("false");
});
