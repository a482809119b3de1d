import type { DoctorReport } from "../../../api/schemas/doctor-report.ts";
import { eventText } from "../../../core/watch/event-text.ts";
import type { PlatformDoctor } from "../../doctor/platform-doctor.ts";
import type { PolledTopic } from "./polled-feed.ts";

/** Topic `doctor`: told when something else is found than before, whenever that was. */
export class DoctorTopic implements PolledTopic {
  readonly #on: string;
  readonly #doctor: PlatformDoctor;
  #last: DoctorReport | undefined;
  #found = "";

  constructor(on: string, doctor: PlatformDoctor) {
    this.#on = on;
    this.#doctor = doctor;
  }

  async poll(): Promise<string | undefined> {
    const report = await this.#doctor.report();
    const found = JSON.stringify([report.parts, report.findings]);
    const isNew = found !== this.#found;
    this.#last = report;
    this.#found = found;
    return isNew ? this.begin() : undefined;
  }

  begin(): string {
    if (this.#last === undefined) throw new Error("the doctor was not asked yet");
    return eventText("doctor", { on: this.#on, report: this.#last });
  }
}
