/** A variable whose value is a file of SQLite: its folder must be kept. The same in code is seen by each ecosystem. */
import type { Declaration, DeclarationReader } from '../detector.ts';
import { volumeOf } from '../ecosystems/sqlite-volumes.ts';
import { Project } from '../project.ts';
import { databaseBehind } from '../variables/variable.ts';
import { variablesOf } from '../variables/variables.ts';

export const sqliteReader: DeclarationReader = {
  name: 'sqlite',
  read(repository) {
    const declarations = variablesOf(repository).flatMap((variable): Declaration[] => {
      const folder = databaseBehind(variable).sqliteFolder;
      // Beside the schema or the code: whoever knows the framework knows where that is.
      if (folder === undefined || folder === '.') return [];
      const { directory, source } = variable;
      const volumes = volumeOf(new Project(repository, directory), `${folder}/database`, source);
      return volumes.length === 0 ? [] : [{ directory, strength: 0.5, draft: { volumes } }];
    });
    return { declarations };
  },
};
