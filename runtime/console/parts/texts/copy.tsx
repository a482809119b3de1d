import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { useConsole } from "../../data/console-context.ts";
import { gatewayCommand } from "../../data/session/gateway-command.ts";
import { Button } from "../forms/button.tsx";

/** How long it says that it was done, milliseconds. */
const saidFor = 2_000;

/** A button that copies a text. */
export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const done = useSignal<"" | "Copied" | "Not allowed">("");
  useEffect(() => {
    if (done.value === "") return undefined;
    const timer = setTimeout(() => (done.value = ""), saidFor);
    return () => clearTimeout(timer);
  }, [done.value]);
  return (
    <>
      <Button
        look="quiet"
        onClick={() =>
          navigator.clipboard.writeText(text).then(
            () => (done.value = "Copied"),
            () => (done.value = "Not allowed"),
          )
        }
      >
        {done.value === "" ? label : done.value}
      </Button>
      <span class="hidden" role="status">
        {done}
      </span>
    </>
  );
}

/** A command or a text in lines that can be copied. */
export function CopyBlock({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <div class="copy-block">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it */}
      <pre tabIndex={0} aria-label={label ?? "Command"}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  );
}

/** The `weir` command that does the same as a change. */
export function SameCommand({ command }: { readonly command: string }) {
  const { session } = useConsole();
  return (
    <details class="same-command">
      <summary>The same as a command</summary>
      <CopyBlock text={gatewayCommand(command, session.gateway)} />
    </details>
  );
}
