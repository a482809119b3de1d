import { useComputed, useSignal } from "@preact/signals";

import { useConsole } from "../data/console-context.ts";
import { CheckField } from "../parts/forms/field.tsx";
import { Dialog } from "../parts/forms/dialog.tsx";

/** The keys that do something on this page; they can be turned off, for people whose programs type keys. */
export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const { shortcuts } = useConsole();
  const on = useSignal(shortcuts.on.peek());
  const rows = useComputed(() => [...new Map(shortcuts.list.value.map((each) => [each.keys, each])).values()]);
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <div class="stack">
        <dl class="shortcuts">
          {rows.value.map(({ keys, what }) => (
            <div key={keys}>
              <dt>
                {keys.split(" ").map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
          <div>
            <dt>
              <kbd>Enter</kbd>
            </dt>
            <dd>Open the row</dd>
          </div>
        </dl>
        <CheckField
          label="Shortcuts are on, until this page is closed"
          value={on}
          onChange={(is) => shortcuts.turn(is)}
        />
      </div>
    </Dialog>
  );
}
