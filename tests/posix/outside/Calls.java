// Channels, mapped buffers and locks of Java NIO.
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

public final class Calls {
    static void tell(String name) throws IOException {
        byte[] all = Files.readAllBytes(Path.of(name));
        System.out.printf("%s: %d bytes of %d, %x%n", name, all.length, Files.size(Path.of(name)),
            Arrays.hashCode(all));
    }

    public static void main(String[] words) throws IOException {
        tell("shared");
        Files.writeString(
            Path.of("shared"), "appended by the program", StandardOpenOption.APPEND);
        try (FileChannel file = FileChannel.open(Path.of("own"), StandardOpenOption.CREATE,
                 StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 3; ++i) {
                byte[] piece = new byte[1 << 20];
                Arrays.fill(piece, (byte) ('a' + i));
                file.write(ByteBuffer.wrap(piece));
            }
            file.write(ByteBuffer.wrap("between".getBytes()), (1 << 20) - 3);
            MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 4 << 20);
            System.out.println((char) mapped.get(1 << 20));
            mapped.put(100, "stored".getBytes());
            mapped.force();
            try (FileLock lock = file.tryLock(0, 10, false)) {
                System.out.println(lock.isValid());
            }
            file.truncate((2 << 20) + 5);
            file.force(true);
            try (FileChannel copy = FileChannel.open(Path.of("copy"), StandardOpenOption.CREATE,
                     StandardOpenOption.WRITE)) {
                System.out.println(file.transferTo(0, file.size(), copy));
            }
        }
        tell("own");
        tell("copy");
    }
}
