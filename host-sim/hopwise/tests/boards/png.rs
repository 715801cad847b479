//! A picture in shades of gray as a PNG file, not compressed.

/// Eight bits a point, rows from the top.
pub(crate) fn write(width: u32, height: u32, points: &[u8]) -> Vec<u8> {
    assert_eq!(points.len(), (width * height) as usize);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Eight bits, gray, and no choice of methods.
    chunk(&mut file, b"IHDR", &[&size[..], &[8, 0, 0, 0, 0]].concat());
    // Every row begins with its filter: none.
    let rows = points.chunks(width as usize);
    let rows: Vec<u8> = rows.flat_map(|row| [&[0], row].concat()).collect();
    let mut data = vec![0x78, 0x01];
    let blocks: Vec<&[u8]> = rows.chunks(0xffff).collect();
    for (index, block) in blocks.iter().enumerate() {
        let length = block.len() as u16;
        data.push((index + 1 == blocks.len()).into());
        data.extend(length.to_le_bytes());
        data.extend((!length).to_le_bytes());
        data.extend_from_slice(block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for &byte in &rows {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    data.extend((b << 16 | a).to_be_bytes());
    chunk(&mut file, b"IDAT", &data);
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let begin = file.len();
    file.extend_from_slice(name);
    file.extend_from_slice(data);
    let crc = file[begin..].iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ (0xedb8_8320 * (crc & 1)))
    });
    file.extend((!crc).to_be_bytes());
}
