import { useComputed } from "@preact/signals";

import type { SessionInfo } from "../../api/schemas/iam/session.ts";
import type { DoctorReport, Finding } from "../../api/schemas/doctor-report.ts";
import type { DoctorEvent } from "../../api/schemas/watch/watch-topics.ts";
import { pageLink } from "../data/address/page-links.ts";
import { useConsole } from "../data/console-context.ts";
import { useLastEvent } from "../data/stream/use-topic.ts";
import { clockTime } from "../data/time/time-words.ts";
import { Button } from "../parts/forms/button.tsx";
import { SameCommand } from "../parts/texts/copy.tsx";
import { NoticeBar } from "../parts/texts/notice-bar.tsx";
import { Shown } from "../parts/texts/shown.tsx";

/** Checks of the doctor without which calls or changes do not work. */
const vital: ReadonlySet<string> = new Set(["broker", "provider", "store"]);

/** What is wrong with everything on the page. */
export function NoticeBars({ info }: { readonly info: SessionInfo }) {
  const { clock, connection, requests, session, stream } = useConsole();
  const doctor = useLastEvent<DoctorEvent>(session.may("System:Doctor") ? "doctor" : undefined, async (signal) => ({
    on: "doctor",
    report: await requests.get<DoctorReport>("/system/doctor", { signal }),
  }));
  const problems = useComputed(() => vitalProblems(doctor.value.event?.report));
  const away = connection.state.value;
  const live = stream.state.value;
  const released = stream.hello.value?.release;
  return (
    <div class="notices">
      <SentNotice />
      {away.kind === "away" && (
        <NoticeBar tone="bad">
          No connection to the gateway since {clockTime(away.since, clock.zone.value)}; trying again
        </NoticeBar>
      )}
      {away.kind === "there" && live.kind === "broken" && (
        <NoticeBar tone="busy">
          Live changes stopped at {clockTime(live.since, clock.zone.value)}; connecting again
        </NoticeBar>
      )}
      {live.kind === "full" && <NoticeBar tone="warn">{live.sentence}; this page asks every 10 s</NoticeBar>}
      {live.kind === "refused" && <NoticeBar tone="warn">{live.sentence}</NoticeBar>}
      {released !== undefined && released !== pageRelease() && (
        <NoticeBar
          tone="warn"
          act={
            <Button look="main" local onClick={() => location.reload()}>
              Reload
            </Button>
          }
        >
          Weir was updated to {released}; this page is of {pageRelease()}
        </NoticeBar>
      )}
      {info.via === "open" && (
        <NoticeBar tone="warn">basic_auth is off: everybody who reaches this address may do everything</NoticeBar>
      )}
      {problems.value.map(({ id, subject, sentence }) => (
        <NoticeBar key={`${id} ${subject}`} tone="bad" act={<a href={pageLink.system}>What to do</a>}>
          <Shown text={`${subject}: ${sentence}`} />
        </NoticeBar>
      ))}
    </div>
  );
}

/** The last change, until it is put away. */
function SentNotice() {
  const { sent } = useConsole();
  const last = sent.last.value;
  if (last === undefined) return null;
  return (
    <NoticeBar
      tone="good"
      act={
        <Button look="quiet" label="Put the note away" onClick={() => sent.putAway()}>
          <span aria-hidden="true">✕</span>
        </Button>
      }
    >
      Sent: {last.href === undefined ? last.what : <a href={last.href}>{last.what}</a>}
      <SameCommand command={last.command} />
    </NoticeBar>
  );
}

/** Findings that concern every page. */
export function vitalProblems(report: DoctorReport | undefined): readonly Finding[] {
  return (report?.findings ?? []).filter(({ id, level }) => level === "problem" && vital.has(id));
}

/** The release that made this page. */
function pageRelease(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=weir-release]")?.content ?? "";
}
