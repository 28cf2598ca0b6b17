/** What goes over the wire in this area. */
import Type from 'typebox';
import { OperationStatus } from '../../events/event-kinds.ts';
import { FaultAnswer, Id, nullable, Time } from '../../http/schemas.ts';

const Step = Type.Object(
  {
    name: Type.String({ examples: ['build'] }),
    status: Type.Enum(['running', 'waiting', 'done', 'failed', 'undoing', 'undone']),
    attempt: Type.Integer(),
    startedAt: Time,
    finishedAt: nullable(Time),
  },
  { title: 'OperationStep' },
);

export const OperationAnswer = Type.Object(
  {
    id: Id,
    kind: Type.String({ examples: ['deployment'] }),
    subject: nullable(Type.Object({ type: Type.String({ examples: ['environment'] }), id: Id })),
    status: OperationStatus,
    step: nullable(Type.String({ description: 'The step it is at.' })),
    progress: nullable(Type.Object({ fraction: Type.Number(), text: nullable(Type.String()) })),
    result: Type.Unknown({ description: 'What it gave, once it has succeeded.' }),
    fault: nullable(FaultAnswer),
    requestedBy: nullable(Id),
    createdAt: Time,
    startedAt: nullable(Time),
    finishedAt: nullable(Time),
    steps: Type.Optional(Type.Array(Step, { description: 'In order; not in lists.' })),
  },
  { title: 'Operation' },
);

export const OperationsAnswer = Type.Object(
  { items: Type.Array(OperationAnswer), nextCursor: nullable(Type.String()) },
  { title: 'OperationList' },
);
