import { useSignal, type Signal } from "@preact/signals";

import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { DeploymentFields } from "./deployment-fields.tsx";

export interface DeploymentEditorProps {
  readonly draft: Signal<FunctionDeployment>;
  /** Set while the JSON cannot be read: nothing can be sent then. */
  readonly problem: Signal<string | undefined>;
  readonly isNew: boolean;
}

/** A deployment as fields, or as the JSON that is sent. */
export function DeploymentEditor({ draft, problem, isNew }: DeploymentEditorProps) {
  const asJson = useSignal(false);
  const text = useSignal("");
  return (
    <div class="stack">
      <div class="row-of-buttons" role="group" aria-label="Edit as">
        <Button
          pressed={!asJson.value}
          off={problem.value === undefined ? undefined : "The JSON cannot be read yet"}
          onClick={() => (asJson.value = false)}
        >
          Fields
        </Button>
        <Button
          pressed={asJson.value}
          onClick={() => {
            text.value = JSON.stringify(draft.peek(), undefined, 2);
            asJson.value = true;
          }}
        >
          JSON
        </Button>
      </div>
      {asJson.value ? (
        <TextField
          label="Deployment"
          value={text}
          rows={Math.min(30, Math.max(12, text.value.split("\n").length + 1))}
          mono
          problem={problem.value}
          hint="Sent as it stands; fields that nobody knows are refused"
          onChange={(value) => {
            const parsed = parseDeployment(value);
            problem.value = parsed.problem;
            if (parsed.deployment !== undefined) draft.value = parsed.deployment;
          }}
        />
      ) : (
        <DeploymentFields draft={draft} isNew={isNew} />
      )}
    </div>
  );
}

/** A deployment that was typed as JSON, or why it is none; what its fields may hold, the gateway says. */
export function parseDeployment(text: string): {
  readonly deployment?: FunctionDeployment;
  readonly problem?: string;
} {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (err) {
    return { problem: `This is no JSON: ${err instanceof Error ? err.message : String(err)}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { problem: "This is no JSON object" };
  const { service, image } = value as Partial<FunctionDeployment>;
  if (typeof service !== "string" || typeof image !== "string")
    return { problem: "service and image have to be texts" };
  return { deployment: value as FunctionDeployment };
}
