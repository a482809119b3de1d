import { useSignal, useSignalEffect } from "@preact/signals";

import type { SessionInfo } from "../../api/schemas/iam/session.ts";
import { pageLink } from "../data/address/page-links.ts";
import { useConsole } from "../data/console-context.ts";
import { themeChoices, type ThemeChoice } from "../data/look/theme.ts";
import { Button } from "../parts/forms/button.tsx";
import { SelectField } from "../parts/forms/field.tsx";
import { Who } from "../parts/texts/shown.tsx";
import { Brand } from "./brand.tsx";
import { Navigation } from "./navigation.tsx";

const themeWords: Readonly<Record<ThemeChoice, string>> = { system: "As the system", light: "Light", dark: "Dark" };

export interface SideBarProps {
  readonly info: SessionInfo;
  readonly onShortcuts: () => void;
}

/** Where one can go, and who one is. In a narrow window it is a bar on top, and its content opens below it. */
export function SideBar({ info, onShortcuts }: SideBarProps) {
  const { address, clock, session, theme } = useConsole();
  const open = useSignal(false);
  useSignalEffect(() => {
    void address.place.value.path;
    open.value = false;
  });
  return (
    <header class="side">
      <div class="side-top">
        <a class="brand" href={pageLink.overview}>
          <Brand />
        </a>
        <span class="side-toggle">
          <Button look="quiet" expanded={open.value} onClick={() => (open.value = !open.value)}>
            Menu
          </Button>
        </span>
      </div>
      <div class={open.value ? "side-content side-open" : "side-content"}>
        <Navigation />
        <div class="side-end">
          <details class="preferences">
            <summary>Preferences</summary>
            <div class="stack">
              <SelectField
                label="Theme"
                value={theme.choice.value}
                choices={themeChoices.map((choice) => [choice, themeWords[choice]])}
                onChange={(value) => theme.choose(themeChoices.find((choice) => choice === value) ?? "system")}
              />
              <SelectField
                label="Time zone"
                value={clock.zone.value ?? ""}
                choices={[["", "Of the browser"], ...zoneChoices()]}
                onChange={(value) => clock.showIn(value === "" ? undefined : value)}
              />
              <Button look="quiet" onClick={onShortcuts}>
                Shortcuts
              </Button>
            </div>
          </details>
          <p class="who">
            <span class="muted">{info.via === "open" ? "Nobody has to sign in" : "Signed in as"}</span>
            {info.via !== "open" && <Who subject={info.user} name={info.name} />}
          </p>
          {info.via !== "open" && <Button onClick={() => session.signOut()}>Sign out</Button>}
        </div>
      </div>
    </header>
  );
}

function zoneChoices(): readonly (readonly [string, string])[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")].map((zone) => [zone, zone]);
}
