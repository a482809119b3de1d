import Type from "typebox";

/** What an alert is about. */
export const AlertLabels = Type.Object(
  {
    function_name: Type.String({
      description: "Name of the function, with its namespace after a dot",
      examples: ["hello.functions"],
    }),
  },
  {
    title: "AlertLabels",
    description: "Names the function; other labels are ignored",
    examples: [{ function_name: "hello.functions" }],
  },
);

/** One alert of a notification. */
export const Alert = Type.Object(
  {
    status: Type.Enum(["firing", "resolved"], {
      type: "string",
      description: "firing adds a fifth of the maximum of replicas, resolved returns to the minimum",
    }),
    labels: AlertLabels,
  },
  {
    title: "Alert",
    description: "One alert",
    examples: [{ status: "firing", labels: { function_name: "hello.functions" } }],
  },
);

/** The notification that an alert manager sends (contract §3.6). */
export const AlertNotification = Type.Object(
  { alerts: Type.Array(Alert, { maxItems: 1_000, description: "Alerts, processed in order" }) },
  {
    title: "AlertNotification",
    description: "The notification that an alert manager sends",
    examples: [{ alerts: [{ status: "firing", labels: { function_name: "hello.functions" } }] }],
  },
);
