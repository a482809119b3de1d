import { AlertNotification } from "../../../api/schemas/alert.ts";
import { grammarRule, isFunctionName } from "../../../api/grammar.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { resolveNamespace, type NamespaceRules } from "../../../core/namespaces/namespace-rules.ts";
import { quote } from "../../../core/quote.ts";
import { scaleByAlert } from "../../../core/scaling/scale-by-alert.ts";
import { functionResource } from "../named-resource.ts";
import { route } from "../route.ts";

/** Receives alerts from an alert manager (contract §3.6). */
export const alertRoute = route(
  {
    id: "receiveAlert",
    group: "platform",
    method: "POST",
    path: "/system/alert",
    needs: "Function:Scale",
    resource: ({ body }, names) =>
      body.alerts.map(({ labels }) => {
        const { name, namespace } = alertedName(labels.function_name);
        return functionResource(namespace, name, names);
      }),
    about: "Scales functions by alerts: firing adds a fifth of the maximum of replicas, resolved sets the minimum.",
    details:
      "The sender must be allowed to scale every function that is named. All alerts are applied, even if one names an unknown function; the response is then the error of that one. The autoscaler leaves the number alone until the alert is resolved, or was not received for an hour.",
    body: AlertNotification,
    responses: [{ status: 200, about: "The alerts were applied" }],
    errors: ["namespace_not_found", "function_not_found", "namespace_reserved", "edition_limit"],
    trial: {
      commands: `curl -i -u admin:$P $G/system/alert -d '{"alerts":[{"status":"resolved","labels":{"function_name":"echo.functions"}}]}'`,
      shows: "HTTP/1.1 200 OK\n…",
    },
  },
  ({ functions, namespaces }) =>
    async ({ body, request }) => {
      const alerts = body.alerts.map(({ status, labels }) => ({ status, name: alertedName(labels.function_name) }));
      const failed: unknown[] = [];
      for (const { status, name } of alerts) {
        try {
          await scaleByAlert(functions, refOf(name, namespaces), status);
          request.access.changed = true;
        } catch (err) {
          failed.push(err);
        }
      }
      if (failed.length > 0) throw failed[0];
    },
);

interface AlertedName {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** The namespace follows the last dot, as in metrics. */
function alertedName(text: string): AlertedName {
  const dot = text.lastIndexOf(".");
  const name = dot === -1 ? text : text.slice(0, dot);
  if (isFunctionName(name)) return { name, namespace: dot === -1 ? undefined : text.slice(dot + 1) };
  throw new PlatformError("validation_failed", `Cannot read function name ${quote(name)}: ${grammarRule.function}`);
}

function refOf({ name, namespace }: AlertedName, namespaces: NamespaceRules): FunctionRef {
  return { name, namespace: resolveNamespace(namespace, namespaces, "namespace_not_found") };
}
