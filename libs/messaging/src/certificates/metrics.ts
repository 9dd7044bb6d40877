import type { MetricRegistry, SeriesReading } from '@berth/telemetry';

export type CertificateEnd = SeriesReading<'kind' | 'server'>;

export const certificateMetrics = (metrics: MetricRegistry, read: () => Iterable<CertificateEnd>): void => {
  metrics.gaugesOf(
    {
      name: 'berth_certificate_expires_timestamp_seconds',
      help: 'When a certificate runs out, as Unix time: that of each broker as this process is shown it, and the authority that it was told to believe.',
      labels: ['kind', 'server'],
    },
    read,
  );
};
