import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What steps.c does, by Java NIO. */
final class Steps {
    private Steps() {}

    public static void main(String[] words) throws Exception {
        int steps = Integer.parseInt(words[1]);
        int mebibytes = Integer.parseInt(words[2]);
        long milliseconds = Long.parseLong(words[3]);
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
        for (int step = 0; step < steps; ++step) {
            try (FileChannel file =
                    FileChannel.open(
                            Path.of(words[0]),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.APPEND)) {
                for (int call = 0; call < mebibytes; ++call) {
                    buffer.clear();
                    while (buffer.hasRemaining()) {
                        file.write(buffer);
                    }
                }
            }
            if (step + 1 < steps) {
                Thread.sleep(milliseconds);
            }
        }
    }
}
