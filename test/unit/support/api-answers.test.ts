import { expect, test } from "vitest";

import { checkAnswer, operationFor } from "../../support/api-answers.ts";

const json = (body: unknown, status = 200, type = "application/json") =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": type } });
const problem = {
  type: "urn:weir:error:function_not_found",
  title: "Not Found",
  status: 404,
  detail: 'Cannot find function "x": it does not exist',
  instance: "/system/function/x",
  code: "function_not_found",
};

test("checkAnswer() accepts responses of the document", async () => {
  await checkAnswer("GET", "/system/namespaces/", json(["functions"]));
  await checkAnswer("GET", "/system/function/x?usage=1", json(problem, 404, "application/problem+json"));
  await checkAnswer("GET", "/function/x/any/path", new Response("teapot", { status: 418 }));
  await checkAnswer("POST", "/system/secrets", new Response(null, { status: 201 }));
});

test.each<[string, string, string, Response]>([
  ["a status", "GET", "/system/namespaces", json([], 418)],
  ["a type", "GET", "/system/namespaces", json([], 200, "text/html")],
  ["a body", "GET", "/system/namespaces", json(["UPPER"])],
  ["a missing field", "GET", "/system/function/x", json({ name: "x" })],
  ["an unknown code", "GET", "/system/function/x", json({ ...problem, code: "x" }, 404, "application/problem+json")],
  ["a body where there should be none", "POST", "/system/secrets", json({}, 201)],
])("checkAnswer() rejects %s", async (_name, method, target, response) => {
  await expect(checkAnswer(method, target, response)).rejects.toThrow(/answered/);
});

test.each([
  ["HEAD", "/system/info", "getInfo"],
  ["HEAD", "/function/x", "callFunction"],
  ["PUT", "/function/x/a/b", "callFunctionAtPath"],
  ["GET", "/async-function/7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10/result", "getCallResult"],
  ["POST", "/async-function/x/result", "queueCallAtPath"],
  ["PATCH", "/system/info", undefined],
  ["GET", "/nope", undefined],
])("operationFor() finds the operation of %s %s", (method, target, id) => {
  expect(operationFor(method, target)?.id).toBe(id);
});
