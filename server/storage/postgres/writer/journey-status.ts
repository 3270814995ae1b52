/** Whether a journey takes anything: none of an archived workspace does. Of the workspace that is the first parameter. */
export const JOURNEY_STATUS = `
  CASE WHEN EXISTS (SELECT FROM workspaces WHERE workspace_id = $1 AND archived_ms IS NOT NULL)
    THEN 'archived' ELSE status END AS status`
