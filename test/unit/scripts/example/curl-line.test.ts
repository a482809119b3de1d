import { execFileSync } from "node:child_process";

import { expect, test } from "vitest";

import { curlLine, quoted } from "../../../../scripts/example/curl-line.ts";

const url = "http://127.0.0.1:8080/function/f";

test("a request is the curl command that a person would type", () => {
  expect(curlLine({ method: "GET", url, headers: {}, body: undefined })).toBe(`curl ${url}`);
  expect(curlLine({ method: "POST", url, headers: {}, body: { file: "a/b.txt" } })).toBe(
    `curl ${url} --data-binary @a/b.txt`,
  );
  expect(curlLine({ method: "POST", url, headers: {}, body: undefined })).toBe(`curl -X POST ${url}`);
  expect(curlLine({ method: "GET", url, headers: { Accept: "text/event-stream" }, body: undefined })).toBe(
    `curl -N ${url} -H 'Accept: text/event-stream'`,
  );
  expect(
    curlLine({
      method: "PUT",
      url,
      headers: { Accept: "text/plain" },
      body: { text: '{"a":"it\'s"}' },
      credentialsOf: ".weir",
    }),
  ).toBe(
    `curl -u "$(cat .weir/credentials/basic-auth-user):$(cat .weir/credentials/basic-auth-password)" -X PUT ${url} ` +
      String.raw`-H 'Accept: text/plain' -d '{"a":"it'\''s"}'`,
  );
});

test.each(["plain", "two words", "it's", '$HOME `id` \\ "', "", "a\nb", "~", "*"])("a shell reads %j back", (word) => {
  expect(execFileSync("sh", ["-c", `printf %s ${quoted(word)}`], { encoding: "utf8" })).toBe(word);
});
