/**
 * The assembly: projects and environments as users make, change, see and delete them, put together from what the areas
 * below own. A project shows its environments, an environment its services, its domain and its address; making one
 * makes its services too, and deleting one takes everything of it away. Owns no table: what it stores, it asks the
 * owner of to store. Refuses to be asked by those it puts together.
 */
import type { DeploymentsContext } from '../deployments/deployments.ts';
import type { PushesContext } from '../pushes/pushes.ts';

export interface AssemblyContext extends DeploymentsContext, PushesContext {}
