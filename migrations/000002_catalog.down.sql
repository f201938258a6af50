DROP TABLE signpost.checks, signpost.services, signpost.nodes;
DROP FUNCTION signpost.log_checks_put, signpost.log_checks_delete, signpost.bury_check,
    signpost.log_services_put, signpost.log_services_delete, signpost.log_nodes_put, signpost.log_nodes_delete,
    signpost.mesh_name;
