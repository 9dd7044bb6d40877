import { makeBoard } from '../board.js';
import { figure, graph } from '../panels.js';
import { quantiles, sumPerSecond } from '../queries.js';

/** What is kept in the broker, who owns which shard of it, and how far those that follow are. */
export const broker = () =>
  makeBoard({
    uid: 'berth-broker',
    title: 'Berth: broker and log shards',
    says: 'Stores, owners of shards, and how far the job history and the snapshots are behind.',
    panels: [...figures(), ...ofShards(), ...ofFollowers(), ofCertificates()],
  });

const figures = () => [
  figure({
    title: 'Fullest store',
    says: 'At 1 jobs are refused.',
    unit: 'percentunit',
    queries: [{ expr: 'max(berth_router_store_fill_ratio)', legend: 'full' }],
  }),
  figure({
    title: 'Shards without an owner',
    says: 'As the router that sees most of them sees it. Endpoints in them answer nothing.',
    unit: 'short',
    queries: [{ expr: 'max(berth_router_shards_unowned)', legend: 'unowned' }],
  }),
  figure({
    title: 'Job history behind',
    says: 'Age of the instant up to which the history is known to be complete.',
    unit: 's',
    queries: [{ expr: 'max(berth_controllers_history_lag_seconds)', legend: 'behind' }],
  }),
  figure({
    title: 'Snapshots behind',
    says: 'How long the oldest change waits that the buckets do not have yet.',
    unit: 's',
    queries: [{ expr: 'max(berth_management_snapshot_outbox_oldest_age_seconds)', legend: 'behind' }],
  }),
];

const ofShards = () => [
  graph({
    title: 'Shards owned, by router',
    says: 'About the same everywhere, once routers have come or gone.',
    unit: 'short',
    queries: [{ expr: 'sum by (instance) (berth_router_shards_owned)', legend: '{{instance}}' }],
  }),
  graph({
    title: 'Claims of shards',
    says: 'What was decided, and what came of it.',
    unit: 'ops',
    queries: [
      {
        expr: sumPerSecond('berth_router_shard_claims_total', 'decision', 'outcome'),
        legend: '{{decision}}: {{outcome}}',
      },
    ],
  }),
  graph({
    title: 'Logs of endpoints',
    says: 'Opened and closed. One that stopped needs somebody to look.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond('berth_router_endpoint_logs_total', 'event'), legend: '{{event}}' }],
  }),
  graph({
    title: 'Time to open the log of an endpoint',
    says: 'Reading it, and owning it.',
    unit: 's',
    queries: quantiles('berth_router_endpoint_log_opening_seconds'),
  }),
  graph({
    title: 'Questions to owners',
    says: 'By what came of them; “here”: no way was needed.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond('berth_router_owner_questions_total', 'outcome'), legend: '{{outcome}}' }],
  }),
  graph({
    title: 'Silence of the control plane',
    says: 'As each router hears it. Without it, routers go on with what they know.',
    unit: 's',
    queries: [{ expr: 'max by (instance) (berth_router_control_silence_seconds)', legend: '{{instance}}' }],
  }),
];

const ofCertificates = () =>
  graph({
    title: 'Certificates run out in',
    says: 'Of each broker, as processes are shown it, and of the authority that they believe. Empty where all is in the clear.',
    unit: 's',
    queries: [
      {
        expr: 'min by (kind, server) (berth_certificate_expires_timestamp_seconds) - time()',
        legend: '{{kind}} {{server}}',
      },
    ],
  });

const ofFollowers = () => [
  graph({
    title: 'Rows of the job history',
    says: 'Written, and what is not in it, by reason.',
    unit: 'ops',
    queries: [
      { expr: sumPerSecond('berth_controllers_history_rows_total'), legend: 'written' },
      { expr: sumPerSecond('berth_controllers_history_left_out_total', 'reason'), legend: 'left out: {{reason}}' },
    ],
  }),
  graph({
    title: 'Changes that wait for the buckets',
    says: 'Committed, and not published yet.',
    unit: 'short',
    queries: [{ expr: 'max(berth_management_snapshot_outbox_entries)', legend: 'waiting' }],
  }),
];
