import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";

import type { SimulateReply, SimulateRequest } from "../../../api/schemas/iam/access.ts";
import { useConsole } from "../../data/console-context.ts";
import { useSending } from "../../data/requests/use-sending.ts";
import { commandLine } from "../../data/words/shell-word.ts";
import { Button } from "../../parts/forms/button.tsx";
import { LabelledField, SelectField, TextField } from "../../parts/forms/field.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { FailureNote } from "../../parts/texts/failure-note.tsx";
import { Sentence } from "../../parts/texts/sentence.tsx";
import { Shown } from "../../parts/texts/shown.tsx";
import { decisionSentence } from "./decision-sentence.ts";
import { parseClaims } from "./parse-claims.ts";

type Who = "me" | "claims" | "token";

/** Asks what somebody may do by the rules in force, and by which of them. Nothing is done. */
export function SimulateForm({ actions }: { readonly actions: readonly string[] }) {
  const { requests } = useConsole();
  const who = useSignal<Who>("me");
  const claims = useSignal('{\n  "iss": "https://issuer.example",\n  "sub": "alice"\n}');
  const token = useSignal("");
  const action = useSignal("Function:Delete");
  const resource = useSignal("functions:hello");
  const reply = useSignal<SimulateReply | undefined>(undefined);
  const { state, send } = useSending();
  const known = useId();
  const parsed = parseClaims(claims.value);
  const problem = who.value === "claims" && parsed.kind === "unreadable" ? parsed.sentence : undefined;
  const submit = async (): Promise<void> => {
    const body: SimulateRequest = {
      action: action.value.trim(),
      resource: resource.value.trim(),
      ...(who.value === "claims" && parsed.kind === "claims" ? { claims: parsed.claims } : {}),
      ...(who.value === "token" ? { token: token.value.trim() } : {}),
    };
    // A token is a secret: it leaves the page when it is sent.
    token.value = "";
    reply.value = undefined;
    const response = await requests.send("POST", "/system/iam/simulate", { body, act: "simulate a decision" });
    reply.value = (await response.json()) as SimulateReply;
  };
  return (
    <Panel title="Simulate">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === undefined) void send(submit);
        }}
      >
        <div class="filters">
          <SelectField
            label="Who"
            value={who.value}
            choices={[
              ["me", "I"],
              ["claims", "somebody with these claims"],
              ["token", "the holder of a token"],
            ]}
            onChange={(next) => (who.value = next === "claims" || next === "token" ? next : "me")}
          />
          <LabelledField label="Does">
            {({ id }) => (
              <>
                <input
                  id={id}
                  class="input mono"
                  list={known}
                  required
                  autocomplete="off"
                  spellcheck={false}
                  value={action}
                  onInput={(event) => (action.value = event.currentTarget.value)}
                />
                <datalist id={known}>
                  {actions.map((each) => (
                    <option key={each}>{each}</option>
                  ))}
                </datalist>
              </>
            )}
          </LabelledField>
          <TextField label="To" value={resource} required mono placeholder="namespace:function, namespace:* or *" />
        </div>
        {who.value === "claims" && (
          <TextField
            label="Claims"
            value={claims}
            rows={6}
            mono
            hint="JSON, as the issuer writes them into a token"
            problem={problem}
          />
        )}
        {who.value === "token" && (
          <TextField
            label="Token"
            type="password"
            autocomplete="off"
            value={token}
            required
            hint="A token of this platform"
          />
        )}
        <div>
          <Button type="submit" look="main" busy={state.value.kind === "sending"} off={problem}>
            Decide
          </Button>
        </div>
        {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
        {reply.value !== undefined && (
          <div role="status">
            <Sentence tone={reply.value.allowed ? "good" : "bad"} state={reply.value.allowed ? "allowed" : "refused"}>
              <Shown text={decisionSentence(reply.value)} />
            </Sentence>
          </div>
        )}
      </form>
      <SameCommand
        command={commandLine([
          "weir",
          "iam",
          "can-i",
          action.value,
          resource.value,
          ...(who.value === "claims" ? ["--as", "claims.json"] : []),
          ...(who.value === "token" ? ["--as-token", "token.txt"] : []),
        ])}
      />
    </Panel>
  );
}
