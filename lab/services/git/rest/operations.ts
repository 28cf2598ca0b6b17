/** Every operation the API has. Where two paths could match, the more special one stands first. */
import { branchOperations } from './branches.ts';
import { commitOperations } from './commits.ts';
import { contentOperations } from './contents.ts';
import { deliveryOperations } from './deliveries.ts';
import { gitDataOperations } from './git-data.ts';
import { hookOperations } from './hooks.ts';
import { keyOperations } from './keys.ts';
import type { Operation } from './operation.ts';
import { repositoryOperations } from './repositories.ts';
import { searchOperations } from './search.ts';
import { serviceOperations } from './service.ts';
import { statusOperations } from './statuses.ts';
import { userOperations } from './users.ts';

export const operations: readonly Operation[] = [
  ...serviceOperations,
  ...userOperations,
  ...searchOperations,
  ...statusOperations,
  ...branchOperations,
  ...commitOperations,
  ...gitDataOperations,
  ...contentOperations,
  ...deliveryOperations,
  ...hookOperations,
  ...keyOperations,
  ...repositoryOperations,
];
