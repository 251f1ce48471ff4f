import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/** A server that speaks MongoDB's protocol and is none: for the test of the target alone, until its stdin ends. */
public final class MongoStandIn {
    /** The oldest protocol that the target's driver speaks; it states a version that no declaration accepts. */
    private static final MongoVersion VERSION =
        new MongoVersion() {
            @Override
            public List<Integer> getVersionArray() {
                return List.of(4, 2, 0);
            }

            @Override
            public int getWireVersion() {
                return 8;
            }
        };

    public static void main(String[] arguments) throws Exception {
        MemoryBackend backend = new MemoryBackend();
        backend.version(VERSION);
        MongoServer server = new MongoServer(backend);
        System.out.println(server.bind().getPort());
        while (System.in.read() >= 0) {}
        server.shutdownNow();
    }
}
