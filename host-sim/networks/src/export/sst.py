# {title}, for a script of SST's merlin: topo = topology(), the rest as for any topoAny.
# A link is (router, port, router, port). merlin numbers ports itself, in the order of the links.
NAME = "{title}"
ROUTERS = {nodes}
LINKS = [
    ({u}, {port}, {v}, {other}),
]


def topology(endpoints=1):
    import networkx
    from sst.merlin.topology import topoAny

    graph = networkx.Graph()
    graph.add_nodes_from(range(ROUTERS), endpoints=endpoints)
    graph.add_edges_from((one, other) for one, _, other, _ in LINKS)
    topo = topoAny()
    topo.topo_name = NAME
    topo.routing_mode = "source_routing"
    topo.import_graph(graph)
    return topo
