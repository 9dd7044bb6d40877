import { Module } from '@nestjs/common';
import { JobViewModule } from '../job-view/job-view.module.js';
import { JobView } from '../job-view/job-view.service.js';
import { Platform } from '../platform.port.js';
import { Expirer } from './expirer.js';
import { JobMaintenance } from './job-maintenance.service.js';
import { MaintenanceInputs } from './maintenance.port.js';
import { maintenanceObserver } from './metrics.js';
import { Pruner } from './pruner.js';
import { Reaper } from './reaper.js';
import { Ticketer } from './ticketer.js';

/** The loops that mend. Needs `MaintenanceInputs`. */
@Module({
  imports: [JobViewModule],
  providers: [
    {
      provide: JobMaintenance,
      inject: [Platform, JobView, MaintenanceInputs],
      useFactory: composeMaintenance,
    },
  ],
  exports: [JobMaintenance],
})
export class JobMaintenanceModule {}

function composeMaintenance(platform: Platform, view: JobView, inputs: MaintenanceInputs): JobMaintenance {
  const { store, metrics, logger } = platform;
  const { survey, leases, deletedEndpoints, pendingDeliveries } = inputs;
  const observer = maintenanceObserver(metrics, logger);
  const parts = { store, view, observer };
  const maintenance = new JobMaintenance({
    ticketer: new Ticketer({ ...parts, survey, leases }),
    reaper: new Reaper({ ...parts, leases }),
    expirer: new Expirer(parts),
    pruner: new Pruner({ ...parts, survey, deletedEndpoints, pendingDeliveries }),
    clock: platform.clock,
    isViewWhole: () => inputs.isViewWhole,
    observer,
  });
  leases.onExpired(() => {
    maintenance.hurryReaper();
  });
  deletedEndpoints.onDeleted(() => {
    maintenance.hurryPruner();
  });
  return maintenance;
}
