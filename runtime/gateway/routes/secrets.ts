import Type from "typebox";

import { PlatformError } from "../../api/platform-error.ts";
import { Secret, SecretListItem, SecretReference } from "../../api/secret.ts";
import { resolveNamespace } from "../../core/namespace-rules.ts";
import type { SecretStore } from "../../core/ports/secret-store.ts";
import { secretValue } from "../../core/secret-value.ts";
import { namedNamespace, NamespaceQuery, type RoutePlugin } from "../route-plugin.ts";

/** Secrets: list names, create, replace, remove; a value never comes out (contract §3.2). */
export const secretRoutes: RoutePlugin = async (app, { secrets, namespaces }) => {
  app.get(
    "/system/secrets",
    { schema: { querystring: NamespaceQuery, response: { 200: Type.Array(SecretListItem) } } },
    async ({ query }) => {
      const namespace = resolveNamespace(namedNamespace(query), namespaces, "namespace_not_found");
      return (await built(secrets).list(namespace)).map((name) => ({ name, namespace }));
    },
  );

  app.post("/system/secrets", { schema: { body: Secret } }, async ({ body }, reply) => {
    const value = secretValue(body);
    const namespace = resolveNamespace(body.namespace, namespaces, "validation_failed");
    await built(secrets).create({ namespace, name: body.name }, value);
    return reply.code(201).send();
  });

  app.put("/system/secrets", { schema: { body: Secret } }, async ({ body }, reply) => {
    const value = secretValue(body);
    const namespace = resolveNamespace(body.namespace, namespaces, "validation_failed");
    await built(secrets).replace({ namespace, name: body.name }, value);
    return reply.code(202).send();
  });

  app.delete(
    "/system/secrets",
    { schema: { body: SecretReference, querystring: NamespaceQuery } },
    async ({ body, query }, reply) => {
      const namespace = resolveNamespace(namedNamespace(query, body), namespaces, "namespace_not_found");
      await built(secrets).remove({ namespace, name: body.name });
      return reply.code(202).send();
    },
  );
};

function built(secrets: SecretStore | undefined): SecretStore {
  if (secrets !== undefined) return secrets;
  throw new PlatformError("not_built", "Cannot keep secrets: this provider has no store for them");
}
