import { h } from "preact";
import { expect, test } from "vitest";

import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import { UsersOfSecret, type UsersOfSecretProps } from "../../../../runtime/console/pages/secrets/users-of-secret.tsx";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();
const usual: UsersOfSecretProps = { namespace: "dev", users: undefined, mayList: true, failure: undefined };
const failure = new RequestFailure("provider_unavailable", "Cannot list functions: the broker is away");

test.each<[string, Partial<UsersOfSecretProps>, string]>([
  ["are named", { users: ["mailer", "biller"] }, "mailerbiller"],
  ["are none", { users: [] }, "no function"],
  ["were not read yet", {}, "…"],
  ["could not be read", { failure }, "not known: Cannot list functions: the broker is away"],
  ["may not be seen", { mayList: false }, "not known: functions may not be listed"],
  ["were read before the failure", { users: ["mailer"], failure }, "mailer"],
])("functions that use a secret: they %s", (_what, given, text) => {
  expect(shown(h(UsersOfSecret, { ...usual, ...given })).body.text).toBe(text);
});
