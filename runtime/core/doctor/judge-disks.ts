import type { Finding } from "../../api/schemas/doctor-report.ts";
import type { DiskSpace } from "../ports/disks.ts";
import type { Asked } from "./doctor-facts.ts";

const gibibyte = 1_073_741_824;
const leastShare = 0.15;

/** Whether at least 15 % and 1 GiB of every disk are free. */
export function judgeDisks(disks: Asked<readonly DiskSpace[]>): readonly Finding[] {
  if ("missing" in disks)
    return [
      {
        id: "disk",
        level: "warning",
        subject: "disk",
        sentence: `Its free space is not known (${disks.missing})`,
        advice: "look whether the data directory is there",
      },
    ];
  return disks.value.map(({ name, directory, free, total }): Finding => {
    const finding = { id: "disk", subject: `disk of ${name}` } as const;
    const share = `${(free / gibibyte).toFixed(1)} GiB of it (${Math.floor((free / total) * 100)} %) are free`;
    return free < leastShare * total || free < gibibyte
      ? { ...finding, level: "problem", sentence: share, advice: `make room on the disk of ${directory}` }
      : { ...finding, level: "ok", sentence: share };
  });
}
