import Type from "typebox";

const Alert = Type.Object(
  {
    status: Type.Enum(["firing", "resolved"], {
      type: "string",
      description: "firing adds a fifth of the most replicas, resolved goes back to the fewest",
    }),
    labels: Type.Object(
      {
        function_name: Type.String({
          description: "Name of the function, with its namespace after a dot",
          examples: ["hello.functions"],
        }),
      },
      { description: "Says which function it is about; others are ignored" },
    ),
  },
  { description: "One alert" },
);

/** What an alert manager sends (contract §3.6). */
export const AlertNotification = Type.Object(
  { alerts: Type.Array(Alert, { maxItems: 1_000, description: "Taken one after the other" }) },
  {
    title: "AlertNotification",
    description: "What an alert manager sends",
    examples: [{ alerts: [{ status: "firing", labels: { function_name: "hello.functions" } }] }],
  },
);
