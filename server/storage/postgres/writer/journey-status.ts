/** Whether a journey accepts events: none of an archived workspace does. The workspace is the first parameter. */
export const JOURNEY_STATUS = `
  CASE WHEN EXISTS (SELECT FROM workspaces WHERE workspace_id = $1 AND archived_ms IS NOT NULL)
    THEN 'archived' ELSE status END AS status`
