/** A variable whose value is a file of SQLite: its folder must be kept. The same in code is seen by each ecosystem. */
import { type DeclarationFindings, precedence } from '../declarations/declaration-file.ts';
import { volumeOf } from '../ecosystems/sqlite-volumes.ts';
import { Project } from '../project.ts';
import type { Repository } from '../repository.ts';
import { variablesOf } from '../variables/variables.ts';

export function readSqliteVariables(repository: Repository, findings: DeclarationFindings): void {
  for (const variable of variablesOf(repository)) {
    const { directory, source, behind } = variable;
    const folder = behind?.sqliteFolder;
    // Beside the schema or the code: whoever knows the framework knows where that is.
    if (folder === undefined || folder === '.') continue;
    const { volumes, warnings } = volumeOf(new Project(repository, directory), `${folder}/database`, source);
    findings.warnings.push(...warnings);
    if (volumes.length > 0)
      findings.declarations.push({ directory, precedence: precedence.hint, draft: { volumes } });
  }
}
